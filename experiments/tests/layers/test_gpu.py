"""Kernels are found where PyTorch is built for a GPU, which is not so here: it is told so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

CODE = """
import importlib, pkgutil, sys, torch

torch.version.cuda = "12.8"
for package in ("sepool.nn", "sepool_experiments.models.graphs", "sepool_experiments"):
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(module.name)
modules = [(name, vars(module)) for name, module in sys.modules.items() if name[:7] == "sepool."]
kernels = {
    f"{name}.{key}": value
    for name, values in modules
    for key, value in values.items()
    if key.endswith(("kernels", "kernel")) and not callable(value)
}
print(len(kernels), [name for name, value in kernels.items() if value is None])
"""


def test_every_module_finds_its_kernels():
    """An import in a circle would be taken for a missing Triton, and all would only be slower."""
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    run = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr
    count, missing = run.stdout.split(maxsplit=1)
    assert (int(count) > 14, missing.strip()) == (True, "[]"), run.stdout
