"""The notebooks of the documentation print what is stored in them."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy
for package in ("nbclient", "ipykernel", "torch_geometric", "pandas"):
    pytest.importorskip(package)

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))
notebooks, pages = import_module("notebooks"), import_module("pages")


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_prints_its_stored_text(path, monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"])  # `run` extends it
    notebook = notebooks.load(path)
    for package in notebooks.needs(notebook):
        pytest.importorskip(package)
    if "results" in notebook.cells[1].source and not (ROOT / "results").is_dir():
        pytest.skip("no rows: a source archive has none")
    before = notebooks.texts(notebook)
    notebooks.run(notebook)
    after = notebooks.texts(notebook)
    assert list(map(pages.comparable, after)) == list(map(pages.comparable, before))


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_no_traces_of_a_machine(path):
    assert str(ROOT) not in path.read_text(encoding="utf-8")
    for cell in notebooks.load(path).cells:
        assert set(cell.metadata) == set()
        assert all(output.output_type != "error" for output in cell.get("outputs", []))
