from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import sepool
from sepool.cli import app as cli
from sepool.extras import install_command

BRIDGE = "ann bob\nbob cat\ncat ann\ncat dan\ndan eve\neve fay\nfay dan\n"
NAMES = ("ann", "bob", "cat", "dan", "eve", "fay")


@pytest.fixture
def graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text(BRIDGE)
    rows = zip(NAMES, (0, 0, 1, 2, 2, 2), (0, 0, 0, 1, 1, 1), strict=True)
    table = "node,level_1,level_2\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (tmp_path / "nested.csv").write_text(table)
    (tmp_path / "flat.txt").write_text("ann bob cat\ndan eve fay\n")
    (tmp_path / "pairs.txt").write_text("ann bob\ncat dan\neve fay\n")
    (tmp_path / "labels.txt").write_text("x\nx\nx\ny\ny\ny\n")
    return "graph.txt"


def run(*args: str, code: int = 0):
    result = CliRunner().invoke(cli.app, ["score", *args])
    assert result.exit_code == code, result.output
    return result


def test_score_prints_a_table_and_notes(graph):
    done = run(graph, "nested.csv", "flat.txt")
    assert done.stdout.splitlines()[0] == "graph.txt: 6 nodes, 7 edges"
    head, *rows = (line.split("  ") for line in done.stdout.splitlines()[1:])
    assert [row[0].strip() for row in rows] == ["nested.csv", "nested.csv", "flat.txt"]
    assert "AMI" not in head
    assert "  1.6995  " in done.stdout
    assert "  0.3571  " in done.stdout
    assert done.stderr.splitlines() == [
        "note: nested.csv: table, separated by commas, header node,level_1,level_2; 3, 2 clusters",
        "note: flat.txt: communities, 2 communities; 2 clusters",
    ]


def test_score_json_has_a_row_a_level(graph):
    pytest.importorskip("sklearn")
    done = run(graph, "nested.csv", "flat.txt", "--truth", "labels.txt", "--json")
    summary = json.loads(done.stdout)
    assert (summary["graph"], summary["nodes"], summary["edges"]) == ("graph.txt", 6, 7)
    rows = summary["rows"]
    assert [(row["clustering"], row["level"], row["clusters"]) for row in rows] == [
        ("nested.csv", 1, 3),
        ("nested.csv", 2, 2),
        ("flat.txt", 1, 2),
    ]
    assert rows[1]["ami"] == rows[2]["nmi"] == pytest.approx(1)
    assert rows[2]["entropy"] == pytest.approx(
        sepool.structural_entropy("graph.txt", [0, 0, 0, 1, 1, 1])
    )


def test_score_json_without_a_value_is_null(graph, tmp_path):
    (tmp_path / "one.txt").write_text("x\n" * 6)
    (row,) = json.loads(run(graph, "one.txt", "--json").stdout)["rows"]
    assert row["conductance"] is None
    assert "ami" not in row


def test_score_of_a_tree_file_is_that_of_the_tree(graph):
    tree = sepool.coding_tree("graph.txt", height=2)
    tree.save("tree.json")
    (row,) = json.loads(run(graph, "tree.json", "--json").stdout)["rows"]
    assert row["entropy"] == pytest.approx(tree.entropy)


def test_score_labels_of_sepool_tree_can_be_scored(graph):
    command = ["tree", graph, "--height", "3", "--labels", "a.csv", "-o", "a.json"]
    assert CliRunner().invoke(cli.app, command).exit_code == 0
    rows = [json.loads(run(graph, name, "--json").stdout)["rows"] for name in ("a.csv", "a.json")]
    assert [{**row, "clustering": ""} for row in rows[0]] == [
        {**row, "clustering": ""} for row in rows[1]
    ]


def test_score_level_selects_a_row(graph):
    rows = json.loads(run(graph, "nested.csv", "--level", "2", "--json").stdout)["rows"]
    assert [(row["level"], row["clusters"]) for row in rows] == [(2, 2)]


def test_score_truth_among_the_files_is_read_once(graph):
    pytest.importorskip("sklearn")
    done = run(graph, "labels.txt", "--truth", "labels.txt")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout.splitlines()[-1].split()[-2:] == ["1.0000", "1.0000"]


def test_score_options_of_the_graph_change_the_scores(graph, tmp_path):
    (tmp_path / "weighted.txt").write_text("ann bob 5\nbob cat\ncat ann 2\ncat dan 3\ndan eve\n")
    (tmp_path / "two.csv").write_text("ann,1\nbob,1\ncat,1\ndan,2\neve,2\n")
    values = [
        json.loads(run("weighted.txt", "two.csv", *more, "--json").stdout)["rows"][0]["modularity"]
        for more in ([], ["--unweighted"], ["--directed", "flow"])
    ]
    assert len(set(values)) == 3


def test_score_format_applies_to_all_files_or_to_each(graph):
    done = run(graph, "pairs.txt", "--format", "communities")
    assert "3 clusters" in done.stderr
    done = run(graph, "flat.txt", "labels.txt", "--format", "auto", "--format", "labels")
    assert done.stderr.count("note:") == 2


def test_score_ambiguous_file_asks_for_the_format(graph, tmp_path):
    (tmp_path / "doubt.txt").write_text("ann bob\ncat dan\neve foo\n")
    done = run(graph, "doubt.txt", code=2)
    assert done.stderr == (
        "sepool: doubt.txt: 3 lines of 2 columns may be of the format table or communities; "
        "choose one with format= (--format)\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing.csv"], "nothing.csv: No such file or directory"),
        (["flat.txt", "./flat.txt"], "flat.txt is listed 2 times; name every file once"),
        (["flat.txt", "--format", "xml"], "--format must be one of auto, tree,"),
        (
            ["flat.txt", *["--format", "auto"] * 3],
            "--format is given 3 times for 1 file; give it once",
        ),
        (["flat.txt", "--level", "2"], "clustering 'flat.txt' has 1 level, got level 2"),
        (["flat.txt", "--level", "0"], "--level"),
        (["flat.txt", "--truth", "nested.csv"], "the truth has 2 levels, expected one"),
        (["flat.txt", "--directed", "arcs"], "--directed must be one of"),
        (["graph.txt"], "graph.txt:"),
    ],
)
def test_score_bad_input_is_one_line(graph, args, message):
    done = run(graph, *args, code=2)
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert message in last
    assert [line for line in done.stderr.splitlines()[:-1] if not line.startswith("note: ")] == []


def test_score_directed_graph_file_is_refused(graph, tmp_path):
    (tmp_path / "arcs.gml").write_text(
        "graph [\n directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ]\n]\n"
    )
    assert "the graph is directed" in run("arcs.gml", "flat.txt", code=2).stderr


def test_score_truth_without_scikit_learn_names_the_extra(without, graph):
    done = without("sklearn", "score", graph, "labels.txt", "--truth", "labels.txt")
    assert (done.returncode, done.stdout) == (1, "")
    command = install_command("sepool[cluster]")
    expected = f"sepool: agreement with the truth needs sklearn: {command}"
    assert done.stderr.splitlines()[-1] == expected


def test_score_without_optional_packages_runs(without, graph):
    others = "torch,torch_geometric,pandas,scipy,sklearn,matplotlib,bokeh,networkx,igraph,infomap"
    done = without(others, "score", graph, "nested.csv")
    assert done.returncode == 0, done.stderr
    assert "nested.csv" in done.stdout
