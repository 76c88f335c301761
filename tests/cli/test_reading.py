"""Graph files of other formats on the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sepool.cli import app as cli

pytest.importorskip("pyarrow")
pytest.importorskip("igraph")

TABLE = "who,whom,heft\nann,bob,2\nbob,cat,1\ncat,ann,1\n"
ARCS = "*Vertices 3\n*Arcs\n1 2\n2 3\n3 1\n2 1\n"


def run(*args: object, code: int = 0):
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def test_tree_notes_the_layout_of_a_table(write):
    path = write(TABLE, "graph.csv")
    result = run("tree", path, "--columns", "who,whom,heft", "--json")
    assert result.stderr == (f"note: {path}: comma-separated, header; columns who, whom, heft\n")
    assert json.loads(result.stdout)["edges"] == 3
    note = run("tree", path, "--columns", "who, whom").stderr
    assert note.endswith("columns who, whom; no weights; ignored heft\n")


def test_tree_plain_edge_list_has_no_note(write):
    assert run("tree", write("0 1\n1 2\n")).stderr == ""


@pytest.mark.parametrize("command", ["tree", "plot", "explore"])
def test_commands_read_any_format(write, tmp_path, command, monkeypatch):
    pytest.importorskip("bokeh")
    monkeypatch.chdir(tmp_path)
    path = write(TABLE, "graph.txt")
    options = ["--no-open"] if command == "explore" else []
    result = run(command, path, "--format", "csv", "--columns", "who,whom", *options)
    assert "note: " in result.stderr


def test_tree_unknown_format_is_refused_before_reading(tmp_path):
    result = run("tree", tmp_path / "absent.txt", "--format", "dot", code=2)
    assert "the format must be one of edgelist, csv" in result.stderr


def test_tree_missing_columns_lists_those_of_the_file(write):
    path = write(TABLE, "graph.csv")
    result = run("tree", path, "--columns", "a,b", code=2)
    assert result.stderr == f"sepool: {path}: no column 'a'; the columns are who, whom, heft\n"


def test_tree_directed_file_names_the_option(write):
    path = write(ARCS, "graph.net")
    result = run("tree", path, code=2)
    assert "choose --directed flow to follow the arcs, or --directed symmetrise" in result.stderr
    for option in ("flow", "symmetrise"):
        assert "3 edges" in run("tree", path, "--directed", option).stdout


def test_plot_npz_is_a_matrix_or_a_tree_by_its_content(tmp_path, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    sparse.save_npz("graph.npz", sparse.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
    assert "3 nodes, 3 edges" in run("tree", "graph.npz").stdout
    for options in ((), ("--format", "npz")):
        assert run("plot", "graph.npz", *options).stdout == "wrote graph.clusters.png\n"
    run("tree", "graph.npz", "-o", "tree.npz")
    assert run("plot", "tree.npz").stdout == "wrote tree.dendrogram.png\n"


def test_plot_options_of_files_are_refused_for_trees(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("tree", write("0 1\n"), "-o", "tree.json")
    result = run("plot", "tree.json", "--columns", "a,b", code=2)
    assert "--columns needs a tree search, but tree.json is a tree; drop --columns" in result.stderr


@pytest.mark.parametrize(
    ("name", "package"),
    [
        *(("graph.csv", "pyarrow"), ("graph.parquet", "pyarrow"), ("graph.graphml", "igraph")),
        *(("graph.gexf", "networkx"), ("graph.mtx", "scipy"), ("graph.adjlist", "networkx")),
    ],
)
def test_tree_missing_package_names_the_command(without, write, name, package):
    write(TABLE if name == "graph.csv" else "content\n", name)
    columns = ["--columns", "who,whom"] if name == "graph.csv" else []
    result = without(package, "tree", name, *columns)
    assert result.returncode == 1
    message = f"sepool: reading {name} needs {package}: pip install"
    assert result.stderr.splitlines()[-1].startswith(message)
    assert "[io]" in result.stderr
