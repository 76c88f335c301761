"""The pages of the project: their code prints what they show, their tables are those of the rows,
and their links lead somewhere. `make readme` writes down the first two anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))
pages = import_module("pages")

PROSE = ["CONTRIBUTING.md", "CHANGELOG.md", "results/README.md", "benchmarks/README.md"]
NEEDS = ("igraph", "matplotlib", "networkx", "rich", "scipy", "torch", "torch_geometric", "typer")
LANGUAGES = {*pages.CODE, "text", "bibtex"}
MARKED = [
    pytest.param(block, id=f"{name}:{block.line}")
    for name in pages.PAGES
    for block in pages.blocks_of((ROOT / name).read_text(encoding="utf-8"))
    if block.needs or block.not_run
]


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
@pytest.mark.parametrize("name", pages.PAGES)
def test_code_prints_what_the_page_shows(name, monkeypatch):
    for package in NEEDS:
        pytest.importorskip(package)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / name).read_text(encoding="utf-8")
    with pages.workplace():
        assert pages.comparable(pages.Page(name).rendered()) == pages.comparable(text)


@pytest.mark.parametrize("block", MARKED)
def test_what_a_block_needs_is_here(block):
    """Shows which blocks the test above had to leave out, and why."""
    if reason := block.missing():
        pytest.skip(reason)


@pytest.mark.parametrize("name", pages.PAGES)
def test_no_code_escapes(name):
    """Every fence is of a kind that is run, or that is known not to be code."""
    text = (ROOT / name).read_text(encoding="utf-8")
    fences = re.findall(r"^ *```(.*)$", text, re.MULTILINE)[::2]
    assert set(fences) <= LANGUAGES, fences
    assert len(fences) == len(pages.blocks_of(text))


def test_tables_are_those_of_the_rows():
    pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    if not (ROOT / "results").is_dir() or not (ROOT / "benchmarks" / "results").is_dir():
        pytest.skip("there are no rows here")
    command = [sys.executable, ROOT / "tools" / "tables.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [*pages.PAGES, *PROSE])
def test_links_lead_somewhere(name):
    page = ROOT / name
    if not page.exists():
        pytest.skip(f"{name} is not here")
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
        if "://" in target:
            continue
        there = (page.parent / target) if target else page
        if (ROOT / "results") in there.resolve().parents and not (ROOT / "results").is_dir():
            continue  # a source archive has no rows
        assert there.exists(), target
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there.read_text(encoding="utf-8")), target + anchor


def anchors(text: str) -> set[str]:
    """The headings of a page as the places of links."""
    titles = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {"#" + title.strip().replace(" ", "-") for title in kept}


class TestTool:
    """The tool itself notices what it is there to notice."""

    @pytest.fixture
    def page(self, tmp_path, monkeypatch):
        monkeypatch.setattr(pages, "ROOT", tmp_path)
        monkeypatch.chdir(tmp_path)

        def rendered(text: str) -> str:
            (tmp_path / "page.md").write_text(text)
            return pages.Page("page.md").rendered()

        return rendered

    def test_output_is_written_down(self, page):
        text = "```python\nx = 2\nprint(x + 1)\n```\n\n```text\n{}\n```\n"
        assert page(text.format(7)) == text.format(3)

    def test_commands_run(self, page):
        assert page("```console\n$ echo 1\n2\n```\n") == "```console\n$ echo 1\n1\n```\n"

    def test_a_failure_names_the_line(self, page):
        with pytest.raises(AssertionError, match=r"page\.md:3: ZeroDivisionError"):
            page("# Title\n\n```python\n1 / 0\n```\n")
        with pytest.raises(AssertionError, match=r"page\.md:1: RuntimeError: 'false'"):
            page("```sh\nfalse\n```\n")

    def test_needs(self, page, monkeypatch):
        monkeypatch.delenv("SEPOOL_DATA", raising=False)
        text = "<!-- needs: NOSUCHDATA -->\n```python\n1 / 0\n```\n"
        assert page(text) == text
        (block,) = pages.blocks_of(text)
        assert block.missing().startswith("needs NOSUCHDATA: set SEPOOL_DATA")
        (block,) = pages.blocks_of(text.replace("needs: NOSUCHDATA", "not run: no time"))
        assert block.missing() == "not run: no time"
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            page(text.replace("NOSUCHDATA", "numpy"))


@pytest.mark.parametrize("folder", [".", "bench"])
def test_architecture_names_every_module(folder):
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = {word.split(".")[-1] for word in re.findall(r"`([\w.]+)`", text)}
    there = (ROOT / "src/sepool" / folder).iterdir()
    modules = {
        path.stem for path in there if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    kernels = {name for name in modules if name.endswith(("kernel", "kernels"))}
    assert modules - kernels - {"__init__", "__main__"} <= named
