"""The project's pages: output of their code, tables of measured rows, links.

`make readme` writes output and tables anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))
pages = import_module("pages")

GENERATED = "benchmarks/README.md"
PROSE = ["CONTRIBUTING.md", "CHANGELOG.md", "results/README.md", "experiments/README.md"]
HEAVY = {"ray", "scanpy"}
LANGUAGES = {*pages.CODE, "text", "bibtex"}
BLOCKS = {name: pages.blocks_of((ROOT / name).read_text(encoding="utf-8")) for name in pages.PAGES}
CONDITIONAL = [
    pytest.param(block, id=f"{name}:{block.line}")
    for name, blocks in BLOCKS.items()
    for block in blocks
    if block.needs or block.not_run
]
PAGES = [
    pytest.param(name, marks=[pytest.mark.heavy] * any(HEAVY & {*block.needs} for block in blocks))
    for name, blocks in BLOCKS.items()
]


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
@pytest.mark.parametrize("name", PAGES)
def test_code_of_a_page_prints_the_output_on_it(name, monkeypatch):
    pytest.importorskip("torch_geometric")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / name).read_text(encoding="utf-8")
    with pages.workplace():
        assert pages.comparable(pages.Page(name).rendered()) == pages.comparable(text)


@pytest.mark.parametrize("block", CONDITIONAL)
def test_conditional_block_is_run(block):
    """Counts the blocks that the test above skips, by reason."""
    if reason := block.missing():
        pytest.skip(reason)


@pytest.mark.parametrize("name", pages.PAGES)
def test_fence_of_a_page_is_a_block_of_a_listed_language(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    fences = re.findall(r"^ *```(.*)$", text, re.MULTILINE)[::2]
    assert set(fences) <= LANGUAGES, fences
    assert len(fences) == len(BLOCKS[name])


def test_tables_on_pages_equal_those_of_the_rows():
    pytest.importorskip("pandas")
    if not (ROOT / "results").is_dir() or not (ROOT / "benchmarks" / "results").is_dir():
        pytest.skip("no rows: a source archive has none")
    command = [sys.executable, ROOT / "tools" / "tables.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [*pages.PAGES, *PROSE, GENERATED])
def test_link_on_a_page_has_a_target(name):
    page = ROOT / name
    if not page.exists():
        pytest.skip("no page: a source archive has some only")
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
        if "://" in target:
            continue
        path = (page.parent / target) if target else page
        if (ROOT / "results") in path.resolve().parents and not (ROOT / "results").is_dir():
            continue  # a source archive has no rows
        assert path.exists(), target
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path.read_text(encoding="utf-8")), target + anchor


@pytest.mark.parametrize("name", [*pages.PAGES, *PROSE])
def test_prose_of_a_page_wraps_at_100_characters(name):
    page = ROOT / name
    if not page.exists():
        pytest.skip("no page: a source archive has some only")
    blocks = r"^ *```.*?^ *```$|^<!-- table: .*?^<!-- end of table -->$"
    text = re.sub(blocks, "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "![", "$$"))]
    assert [line for line in lines if len(line) > 100] == []


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    slugs = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {"#" + slug.strip().replace(" ", "-") for slug in slugs}


class TestPage:
    @pytest.fixture
    def page(self, tmp_path, monkeypatch):
        monkeypatch.setattr(pages, "ROOT", tmp_path)
        monkeypatch.chdir(tmp_path)

        def rendered(text: str) -> str:
            (tmp_path / "page.md").write_text(text)
            return pages.Page("page.md").rendered()

        return rendered

    def test_rendered_wrong_output_is_replaced(self, page):
        text = "```python\nx = 2\nprint(x + 1)\n```\n\n```text\n{}\n```\n"
        assert page(text.format(7)) == text.format(3)

    def test_rendered_output_of_another_block_stays(self, page):
        text = "```python\nprint(1)\n```\n\n```bibtex\n```\n\n```text\n7\n```\n"
        assert page(text) == text

    def test_rendered_indented_output_keeps_its_indent(self, page):
        text = "- item\n\n  ```python\n  print(1)\n  ```\n\n  ```text\n  {}\n  ```\n"
        assert page(text.format(7)) == text.format(1)

    def test_rendered_console_block_runs_its_commands(self, page):
        assert page("```console\n$ echo 1\n2\n```\n") == "```console\n$ echo 1\n1\n```\n"

    def test_rendered_failing_code_names_its_line(self, page):
        with pytest.raises(AssertionError, match=r"page\.md:3: ZeroDivisionError"):
            page("# Title\n\n```python\n1 / 0\n```\n")
        with pytest.raises(AssertionError, match=r"page\.md:1: RuntimeError: 'false'"):
            page("```sh\nfalse\n```\n")

    def test_rendered_unmet_need_skips_the_block(self, page, monkeypatch):
        monkeypatch.delenv("SEPOOL_DATA", raising=False)
        text = "<!-- needs: NOSUCHDATA -->\n```python\n1 / 0\n```\n"
        assert page(text) == text
        (block,) = pages.blocks_of(text)
        assert block.missing().startswith("needs NOSUCHDATA: set SEPOOL_DATA")
        (block,) = pages.blocks_of(text.replace("needs: NOSUCHDATA", "not run: no time"))
        assert block.missing() == "not run: no time"
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            page(text.replace("NOSUCHDATA", "numpy"))


def architecture() -> tuple[set[str], list[str]]:
    """Return the folders and the rows of layers that the page of the architecture shows."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    tree, layers = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[:2]
    parts: list[str] = []
    folders = set()
    for indent, name in re.findall(r"^( *)([\w.]+)/\s", tree, re.MULTILINE):
        parts = [*parts[: len(indent) // 2], name]
        folders.add("/".join(parts))
    return folders, layers.splitlines()


@pytest.mark.skipif(not (ROOT / "experiments").is_dir(), reason="a source archive has some only")
def test_architecture_tree_has_every_folder_with_modules():
    folders, _ = architecture()
    assert {folder for folder in folders if not (ROOT / folder).is_dir()} == set()
    roots = [ROOT / "src", ROOT / "experiments/src"]
    modules = (path for root in roots for path in root.rglob("*") if path.suffix in (".py", ".cpp"))
    assert {path.parent.relative_to(ROOT).as_posix() for path in modules} <= folders
    assert {path.parent.name for path in ROOT.glob("*/*.py")} <= folders


@pytest.mark.parametrize(("column", "package"), [(0, "sepool"), (1, "sepool_experiments")])
def test_architecture_layers_are_those_of_the_contracts(column, package):
    tomllib = pytest.importorskip("tomllib")
    _, (head, *rows) = architecture()
    start = head.index("sepool_experiments")
    shown = [(row[:start], row[start:])[column].strip() for row in rows]
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [layers] = (
        contract["layers"]
        for contract in config["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and contract["layers"][0] == f"{package}.cli"
    )
    expected = [layer.replace(f"{package}.", "").replace(" |", ",") for layer in layers]
    assert [row for row in shown if row] == expected


def test_migration_new_modules_exist():
    pytest.importorskip("torch_geometric")
    pytest.importorskip("sepool_experiments")
    modules = (ROOT / "docs/migration.md").read_text(encoding="utf-8").partition("## Modules")[2]
    new = "".join(re.findall(r"\| ([^|]*) \|$", modules, re.MULTILINE))
    names = re.findall(r"`(sepool(?:_experiments)?(?:\.\w+)+)`", new)
    assert len(names) > 20
    assert all(map(resolve_name, names))
