"""The commands plot and explore, and the option tree --plot."""

from __future__ import annotations

import json
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sepool.cli.app import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("graph.txt").write_text("a b\nb c\nc a\nc d\nd e\ne f\nf d\n")
    return tmp_path


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("kind", ["clusters", "dendrogram", "levels"])
def test_plot_of_graph_writes_svg(folder: Path, kind: str) -> None:
    assert _run("plot", "graph.txt", "--kind", kind, "-o", "picture.svg")[0] == 0
    assert (folder / "picture.svg").read_text().startswith("<?xml")


def test_plot_of_tree_chooses_kind_by_graph(folder: Path) -> None:
    assert _run("tree", "graph.txt", "-o", "tree.json", "--plot", "clusters.png")[0] == 0
    assert (folder / "clusters.png").read_bytes().startswith(b"\x89PNG")
    assert _run("plot", "tree.json") == (0, "wrote tree.dendrogram.png\n")
    assert _run("plot", "tree.json", "--graph", "graph.txt") == (0, "wrote tree.clusters.png\n")
    code, output = _run("plot", "tree.json", "--kind", "levels")
    assert code == 2
    assert "needs the graph: --graph FILE" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "pie"], "--kind takes clusters, dendrogram, levels, got 'pie'"),
        (["-o", "picture.gif"], "expected a name that ends in .png, .svg or .pdf"),
        (["-o", "nowhere/picture.png"], "no folder"),
        (["--height", "3", "--level", "9"], "level must be 1 to 3, got 9"),
        (["--level", "1", "--kind", "dendrogram"], "--level goes with the kinds clusters"),
        (["--height", "0"], "height must be 1 to 64, got 0"),
        (["--graph", "graph.txt"], "--graph goes with a tree file"),
    ],
)
def test_plot_with_wrong_options_prints_one_line(
    folder: Path, arguments: list[str], message: str
) -> None:
    code, output = _run("plot", "graph.txt", *arguments)
    assert code == 2
    assert message in output
    assert len(output.splitlines()) == 1


def test_explore_writes_and_opens_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    assert _run("explore", "graph.txt") == (0, "wrote graph.html: 6 nodes, 7 edges\n")
    assert opened == [(folder / "graph.html").as_uri()]
    assert _run("tree", "graph.txt", "-o", "tree.npz")[0] == 0
    assert _run("explore", "graph.txt", "--tree", "tree.npz", "-o", "a.html", "--no-open")[0] == 0
    assert len(opened) == 1
    assert "<title>graph.txt</title>" in (folder / "a.html").read_text()


def test_explore_with_truth_and_significance_has_both(folder: Path) -> None:
    Path("truth.csv").write_text("node,label\n" + "".join(f"{x},left\n" for x in "abcdef"))
    arguments = ("explore", "graph.txt", "--height", "2", "--no-open")
    assert _run(*arguments, "--truth", "truth.csv", "--significance")[0] == 0
    page = (folder / "graph.html").read_text()
    assert '"names":["left"]' in page
    assert 'id="data-verdict-2"' in page
    assert _run(*arguments)[0] == 0
    page = (folder / "graph.html").read_text()
    assert '"classes":null' in page
    assert 'id="data-verdict-2"' not in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,left\n", "truth.csv:1: expected the heading node,label, got a,left"),
        ("node,label\na,left\nb\n", "truth.csv:3: expected node,label, got b"),
        ("node,label\na,left\na,right\n", "truth.csv:3: node a has a label already"),
        ("node,label\na,left\n", "truth.csv: node b has no label, nor have 4 others; add a line"),
        (
            "node,label\n" + "".join(f"{x},left\n" for x in "abcdefg"),
            "truth.csv: the graph has no node g; drop its line",
        ),
    ],
)
def test_explore_with_wrong_truth_prints_one_line(folder: Path, text: str, message: str) -> None:
    Path("truth.csv").write_text(text)
    code, output = _run("explore", "graph.txt", "--no-open", "--truth", "truth.csv")
    assert code == 2
    assert message in output
    assert len(output.splitlines()) == 1


def test_commands_without_height_search_the_same_depth(folder: Path) -> None:
    cliques = [(i, j) for i in range(27) for j in range(i) if i // 9 == j // 9]
    lines = [f"{i} {j}" for i, j in [*cliques, (0, 9), (9, 18)]]
    Path("graph.txt").write_text("\n".join(lines) + "\n")
    results = [
        json.loads(_run(*command, "graph.txt", "--json")[1])
        for command in (["tree"], ["plot"], ["explore", "--no-open"])
    ]
    assert [result["height"] for result in results] == [2, 2, 2]
    assert len({result["entropy"] for result in results}) == 1


def test_plot_writes_pdf(folder: Path) -> None:
    assert _run("plot", "graph.txt", "-o", "picture.pdf") == (0, "wrote picture.pdf\n")
    assert (folder / "picture.pdf").read_bytes().startswith(b"%PDF")


def test_explore_says_what_is_wrong(folder: Path) -> None:
    code, output = _run("explore", "nothing.txt", "--no-open")
    assert (code, len(output.splitlines())) == (2, 1)
    Path("other.txt").write_text("a b\n")
    assert _run("tree", "graph.txt", "-o", "tree.json")[0] == 0
    code, output = _run("explore", "other.txt", "--tree", "tree.json", "--no-open")
    assert code == 2
    assert "the tree has 6 leaves, but the graph has 2 nodes" in output
    code, output = _run("explore", "graph.txt", "-o", "page.txt", "--no-open")
    assert (code, output) == (2, "sepool: a page ends in .html, got 'page.txt'\n")


def test_output_of_standard_input_is_named_stdin(folder: Path) -> None:
    graph = (folder / "graph.txt").read_text()
    command = [sys.executable, "-m", "sepool"]
    for args, name in (["plot"], "stdin.clusters.png"), (["explore", "--no-open"], "stdin.html"):
        done = subprocess.run(
            [*command, *args, "-"], input=graph, capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith(f"wrote {name}")
        assert (folder / name).exists()
    assert "<title>stdin</title>" in (folder / "stdin.html").read_text()


def test_output_over_an_input_is_rejected(folder: Path) -> None:
    assert _run("tree", "graph.txt", "-o", "tree.json")[0] == 0
    Path("page.html").write_text("a b\n")
    Path("tree.png").hardlink_to("tree.json")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for command, name in (
        (["plot", "graph.txt", "-o", "graph.txt"], "the graph graph.txt"),
        (["plot", "tree.json", "-o", "tree.json"], "the tree tree.json"),
        (["plot", "tree.json", "-o", "tree.png"], "the tree tree.json"),
        (["plot", "tree.json", "--graph", "graph.txt", "-o", "graph.txt"], "the graph graph.txt"),
        (["explore", "page.html"], "the graph page.html"),
        (["explore", "graph.txt", "--tree", "tree.json", "-o", "tree.json"], "the tree tree.json"),
    ):
        code, output = _run(*command)
        expected = f"sepool: -o would overwrite {name}; choose another name\n"
        assert (code, output) == (2, expected)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_search_options_with_tree_file_are_rejected(folder: Path) -> None:
    assert _run("tree", "graph.txt", "-o", "tree.json")[0] == 0
    for command in (["plot", "tree.json"], ["explore", "graph.txt", "--tree", "tree.json"]):
        for option in (["--height", "5"], ["--method", "fast"], ["--seed", "1"]):
            code, output = _run(*command, *option)
            assert code == 2
            assert f"{option[0]} needs a tree search, but tree.json is a tree; drop" in output
    assert _run("plot", "tree.json", "--self-loops")[0] == 2
    assert _run("plot", "tree.json", "--graph", "graph.txt", "--unweighted")[0] == 0


def test_plot_and_explore_read_weights_and_loops_like_tree(folder: Path) -> None:
    Path("graph.txt").write_text("a b 3\nb c 1\nc c 5\nc d 2\n")
    for options in ([], ["--unweighted"], ["--self-loops"]):
        results = [
            json.loads(_run(*command, "graph.txt", "--height", "3", "--json", *options)[1])
            for command in (["tree"], ["plot"], ["explore", "--no-open"])
        ]
        assert len({outcome["entropy"] for outcome in results}) == 1
    assert results[1]["file"] == "graph.clusters.png"
    assert (results[2]["file"], results[2]["opened"]) == ("graph.html", False)
