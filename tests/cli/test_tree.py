from __future__ import annotations

import csv
import json
import os

import pytest
from typer.testing import CliRunner

import sepool
from sepool.cli import app as cli

BRIDGE = "ann bob\nbob cat\ncat ann\ncat dan\ndan eve\neve fay\nfay dan\n"


@pytest.fixture
def graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text(BRIDGE)
    return "graph.txt"


def run(*args: str, code: int = 0):
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == code, result.output
    return result


def test_tree_prints_summary(graph):
    lines = run("tree", graph, "--height", "2").output.splitlines()
    assert lines[0] == "graph.txt: 6 nodes, 7 edges"
    assert lines[1].startswith("height 2, method best, ")
    assert lines[2] == "entropy 1.6995 bits, 33.5% less than without clusters (2.5567)"
    assert lines[3].split()[:6] == ["level", "clusters", "smallest", "median", "largest", "bits"]
    assert lines[4].split() == [
        "1",
        "2",
        "3",
        "3",
        "3",
        "0.1429",
        "cat,",
        "ann",
        "|",
        "dan,",
        "eve",
    ]
    assert lines[2:] == str(sepool.coding_tree(graph, 2).summary()).splitlines()[1:]


def test_tree_json_has_summary(graph):
    summary = json.loads(run("tree", graph, "--height", "3", "--seed", "5", "--json").output)
    assert summary["graph"] == "graph.txt"
    assert (summary["nodes"], summary["edges"], summary["height"]) == (6, 7, 3)
    assert (summary["method"], summary["seed"]) == ("best", 5)
    assert summary["entropy"] <= 1.6996
    assert summary["one_dimensional_entropy"] == pytest.approx(2.5567, abs=5e-5)
    assert summary["seconds"] >= 0
    assert [level["level"] for level in summary["levels"]] == [1, 2]


@pytest.mark.parametrize("name", ["tree.json", "tree.npz"])
def test_tree_output_can_be_loaded(graph, name):
    run("tree", graph, "--height", "2", "-o", name)
    tree = sepool.CodingTree.load(name)
    assert tree.names == ("ann", "bob", "cat", "dan", "eve", "fay")
    assert tree.labels(1).tolist() == [0, 0, 0, 1, 1, 1]


def test_tree_labels_are_csv(graph):
    run("tree", graph, "--height", "3", "--method", "fast", "--labels", "labels.csv")
    with open("labels.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["node", "level_1", "level_2"]
    assert [row[0] for row in rows[1:]] == ["ann", "bob", "cat", "dan", "eve", "fay"]
    assert all(0 <= int(row[2]) <= int(row[1]) for row in rows[1:])


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "clu", "tree", "nwk", "graphml", "d3.json"])
def test_tree_output_is_the_file_of_save(graph, ending):
    run("tree", graph, "--height", "2", "-o", f"out.{ending}")
    sepool.coding_tree(graph, 2).save(f"same.{ending}")
    with open(f"out.{ending}", "rb") as out, open(f"same.{ending}", "rb") as same:
        assert out.read() == same.read()


@pytest.mark.parametrize("ending", ["tsv", "csv.gz", "clu"])
def test_tree_labels_have_the_format_of_their_ending(graph, ending):
    run("tree", graph, "--height", "2", "--labels", f"out.{ending}", "-o", f"same.{ending}")
    with open(f"out.{ending}", "rb") as out, open(f"same.{ending}", "rb") as same:
        assert out.read() == same.read()


def test_tree_with_weights_and_loops_follows_the_options(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("0 1 3\n1 2 1\n2 2 5\n")
    entropies = [
        json.loads(run("tree", str(path), "--json", *options).output)["one_dimensional_entropy"]
        for options in ([], ["--unweighted"], ["--self-loops"])
    ]
    assert entropies[1] == 1.5
    assert len(set(entropies)) == 3


def test_tree_of_one_node_prints_counts(graph):
    with open(graph, "w") as file:
        file.write("lonely\n")
    assert "1 node, 0 edges" in run("tree", graph, "--height", "1").output


def test_tree_with_outputs_lists_them(graph):
    assert "wrote" not in run("tree", graph).output
    options = ["-o", "tree.json", "--labels", "labels.csv"]
    assert run("tree", graph, *options).output.endswith("\nwrote tree.json, labels.csv\n")
    summary = json.loads(run("tree", graph, *options, "--json").output)
    assert summary["files"] == ["tree.json", "labels.csv"]
    assert json.loads(run("tree", graph, "--json").output)["files"] == []


class TestBadInput:
    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["nothing.txt"], "sepool: nothing.txt: No such file or directory"),
            (["."], "sepool: .: Is a directory"),
            (["nothing.txt", "--height", "0"], "sepool: height must be 1 to 64, got 0"),
            (["graph.txt", "--method", "magic"], "sepool: method must be one of"),
            (["graph.txt", "-o", "tree.txt"], "sepool: expected a file that ends in .json, .npz, "),
            (["nothing.txt", "-o", "x.json.gz"], "sepool: expected a file that ends in .json, "),
            (["nothing.txt", "--labels", "x.nwk"], "sepool: expected a file that ends in .csv, "),
            (["graph.txt", "-o", "no/tree.json"], "sepool: cannot write no/tree.json: no folder"),
            (["graph.txt", "--labels", "."], "sepool: cannot write .: it is a folder"),
        ],
    )
    def test_wrong_input_prints_one_line_and_exits_2(self, graph, args, message):
        result = run("tree", *args, code=2)
        assert result.output.startswith(message)
        assert len(result.output.splitlines()) == 1
        assert os.listdir() == ["graph.txt"]

    def test_malformed_line_is_named(self, graph):
        with open(graph, "a") as file:
            file.write("ann bob heavy\n")
        assert run("tree", graph, "-o", "tree.json", code=2).output.startswith(
            "sepool: graph.txt:8: "
        )
        assert not os.path.exists("tree.json")

    def test_weights_that_overflow_name_the_file(self, graph):
        with open(graph, "w") as file:
            file.write("a b 1e308\nb c 1e308\n")
        output = run("tree", graph, code=2).output
        assert output == (
            "sepool: graph.txt: the weights add up to more than a quarter of the largest double\n"
        )

    @pytest.mark.parametrize("name", ["tree.json", "tree.npz"])
    def test_tree_file_as_graph_is_rejected(self, graph, name):
        run("tree", graph, "-o", name)
        output = run("tree", name, code=2).output
        assert output.startswith(f"sepool: {name} is a coding tree, not a graph; ")
        assert f"'sepool plot {name} --graph GRAPH'" in output
        assert len(output.splitlines()) == 1

    def test_graph_with_suffix_of_a_tree_is_read(self, graph):
        os.rename(graph, "graph.json")
        assert run("tree", "graph.json").output.startswith("graph.json: 6 nodes")

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--labels", "graph.txt"], "--labels would overwrite the graph graph.txt; choose"),
            (["-o", "./graph.txt"], "-o would overwrite the graph graph.txt; choose another name"),
            (["--plot", "link.txt"], "--plot would overwrite the graph graph.txt; choose"),
            (["-o", "x.json", "--labels", "x.json"], "-o and --labels are both x.json; give each"),
            (["--labels", "x.png", "--plot", "./x.png"], "--labels and --plot are both x.png;"),
        ],
    )
    def test_output_over_another_file_is_rejected(self, graph, args, message):
        os.symlink(graph, "link.txt")
        output = run("tree", graph, *args, code=2).output
        assert output.startswith(f"sepool: {message}")
        assert len(output.splitlines()) == 1
        with open(graph) as file:
            assert file.read() == BRIDGE
        assert sorted(os.listdir()) == ["graph.txt", "link.txt"]

    def test_debug_prints_the_traceback(self, graph):
        result = run("tree", graph, "--height", "0", "--debug", code=2)
        assert "Traceback" in result.output
        assert "sepool: height must be" in result.output


@pytest.mark.parametrize("option", [["-o", "out.json"], ["-o", "out.npz"], ["--labels", "out.csv"]])
@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (OSError("disk full"), 1, "sepool: OSError: disk full (--debug shows where)\n"),
        (KeyboardInterrupt(), 130, "sepool: interrupted\n"),
    ],
)
def test_tree_that_fails_leaves_no_file(graph, monkeypatch, option, failure, code, message):
    def fail(*_):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        assert run("tree", graph, *option, code=code).output == message
    assert os.listdir() == ["graph.txt"]


def test_tree_without_height_has_the_supported_levels(graph, tmp_path):
    result = run("tree", graph)
    assert "height 1, " in result.output
    assert result.output.splitlines()[-1] == "no clusters"
    cliques = [f"{9 * c + i} {9 * c + j}\n" for c in range(3) for i in range(9) for j in range(i)]
    (tmp_path / "cliques.txt").write_text("".join(cliques) + "0 9\n9 18\n")
    assert json.loads(run("tree", "cliques.txt", "--json").output)["height"] == 2


def test_tree_has_as_many_clusters_as_asked_for(graph):
    output = run("tree", graph, "--clusters", "3", "--height", "2", "--json").output
    assert json.loads(output)["levels"][0]["clusters"] == 3
    output = run("tree", graph, "--min-size", "4", "--height", "2", "--json").output
    assert json.loads(output)["levels"][0]["smallest"] == 6


@pytest.mark.parametrize("options", [(), ("--directed", "symmetrise"), ("--directed", "flow")])
def test_tree_notes_edges_in_both_directions(graph, tmp_path, options):
    (tmp_path / "arcs.txt").write_text("a b\nb a\nb c\nc a\n")
    result = run("tree", "arcs.txt", *options)
    note = "note: arcs.txt lists 1 edge in both directions"
    assert (note in result.stderr) == (options == ())
    assert "note" not in run("tree", graph, *options).stderr


def test_tree_directed_flow_differs_from_the_symmetric_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arcs.txt").write_text("a b\nb c\nc a\nc d\nd e\ne f\nf d\nf a\n")
    entropies = {
        options: json.loads(run("tree", "arcs.txt", "--height", "2", *options, "--json").output)
        for options in ((), ("--directed", "flow"), ("--directed", "flow", "--teleport", "0.5"))
    }
    assert len({round(summary["entropy"], 9) for summary in entropies.values()}) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--directed", "arcs"), "--directed"),
        (("--teleport", "1.5"), "teleport must be a probability"),
        (("--clusters", "7", "--height", "2"), "num_clusters must be 1"),
    ],
)
def test_tree_impossible_options_are_refused(graph, options, message):
    assert message in run("tree", graph, *options, code=2).stderr


@pytest.mark.parametrize(("ending", "package"), [("graphml", "networkx"), ("parquet", "pyarrow")])
def test_tree_missing_package_is_named_before_the_search(without, tmp_path, ending, package):
    (tmp_path / "graph.txt").write_text("a b\n")
    done = without(package, "tree", "graph.txt", "-o", f"tree.{ending}")
    assert done.returncode != 0
    assert f"a .{ending} file needs {package}: pip install" in done.stderr
    assert done.stdout == ""
