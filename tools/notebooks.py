"""Run the notebooks of docs/notebooks, store their output: `python tools/notebooks.py [FILE ...]`.

Each runs in a new kernel of this Python, in an empty folder with a copy of `examples/`, after the
settings of `SETUP`. Stored are outputs and the number of each cell, no times and no versions.
`tests/test_notebooks.py` runs them and compares the printed text.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from pages import workplace

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PACKAGES = re.compile(r"^<!-- needs: (.*) -->$", re.MULTILINE)
SETUP = """\
import matplotlib_inline.backend_inline as backend
backend.set_matplotlib_formats("png", bbox_inches="tight", dpi=64)
"""


def load(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)


def needs(notebook: Any) -> list[str]:
    """Return the packages that a notebook imports besides those of the test environment."""
    first = notebook.cells[0].source
    match = PACKAGES.search(first)
    return re.split(r",\s*", match[1]) if match else []


def run(notebook: Any) -> None:
    """Run all cells and keep their output."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["SEPOOL_ROOT"] = str(ROOT)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    with workplace():
        resources = {"metadata": {"path": os.getcwd()}}
        client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources)
        client.execute()
    del notebook.cells[0]
    for number, cell in enumerate(filter(_is_code, notebook.cells), 1):
        cell.execution_count = number
        cell.metadata = {}
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number


def texts(notebook: Any) -> list[str]:
    """Return the printed text of every code cell, pictures left out."""
    return ["".join(map(_text, cell.outputs)) for cell in filter(_is_code, notebook.cells)]


def write(notebook: Any, path: Path) -> None:
    """Store a notebook without the traces of this machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    nbformat.write(notebook, path)


def _is_code(cell: Any) -> bool:
    return bool(cell.cell_type == "code")


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text) if output.name == "stdout" else ""
    data = output.get("data", {})
    return "" if "image/png" in data else str(data.get("text/plain", ""))


def main() -> None:
    paths = [Path(name).resolve() for name in sys.argv[1:]] or NOTEBOOKS
    for path in paths:
        notebook = load(path)
        run(notebook)
        write(notebook, path)
        print(f"ran {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
