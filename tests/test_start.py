"""Starting up is quick, and pulls nothing in that is not needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = "torch torch_geometric pandas scipy sklearn matplotlib networkx igraph bokeh ray typer rich"
IMPORT, HELP = 0.15, 0.5  # seconds of processor time, which other work on the machine leaves alone
TRIES = 5


def seconds(code: str) -> float:
    """The least processor time that some Pythons took for this code, without their own start."""
    timed = f"import time; t = time.process_time()\n{code}\nprint(time.process_time() - t)"
    return min(
        float(subprocess.run(
            [sys.executable, "-c", timed], capture_output=True, text=True, check=True
        ).stdout.split()[-1])
        for _ in range(TRIES)
    )  # fmt: skip


def slowness() -> float:
    """How much slower this machine imports NumPy than in 0.1 s, at least 1, and some noise."""
    return 1.25 * max(1.0, seconds("import numpy") / 0.1)


def test_import_is_quick():
    assert seconds("import sepool") < IMPORT * slowness()


def test_import_needs_numpy_alone():
    code = f"import sys, sepool; print(set('{HEAVY}'.split()) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_help_is_quick_and_light():
    pytest.importorskip("typer")
    code = """
import contextlib, io, sys
from sepool.__main__ import main
sys.argv = ["sepool", "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""
    assert seconds(code) < HELP * slowness()
    code += f"print(set('{HEAVY}'.split()) - {{'typer', 'rich'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


@pytest.mark.parametrize("missing", ["torch", "torch_geometric"])
def test_a_missing_package_is_named(missing):
    program = f"import sys; sys.modules['{missing}'] = None; from sepool.nn import SEPN"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.endswith(f"sepool.nn needs {missing}: pip install 'sepool[torch]'")
