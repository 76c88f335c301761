"""Compiled epochs in a fresh process: nothing is compiled after the second."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        sys.platform == "win32" or torch.__version__ < "2.6", reason="torch.compile of that release"
    ),
]
ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SEPOOL_DATA", "data"), "TU")


def graphs_by_epoch(*args: str, seed: int = 0) -> list[int]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.nn.compiled_epochs", *args]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    return [int(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("graphs ")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reading", ["inside", "outside"])
@pytest.mark.parametrize("name", ["SEPG", "SEPN", "own"])
def test_compiled_epochs_of_any_hash_seed_compile_no_more_after_two(name, reading, seed):
    first, second, third, fourth = graphs_by_epoch("aot_eager", name, reading, "4", seed=seed)
    assert first <= second == third == fourth <= 8


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["SEPG", "SEPN", "own"])
def test_inductor_epochs_of_any_hash_seed_compile_no_more_after_two(name, seed):
    _, second, third, fourth = graphs_by_epoch("inductor", name, "inside", "4", seed=seed)
    assert second == third == fourth <= 8


@pytest.mark.parametrize("dataset", ["MUTAG", "PROTEINS"])
def test_inductor_epochs_of_a_dataset_compile_no_more_after_two(dataset):
    if not (DATA / dataset).exists():
        pytest.skip(f"no TU/{dataset} below SEPOOL_DATA")
    graphs = graphs_by_epoch("inductor", "SEPG", "inside", "6", dataset)
    assert len(set(graphs[1:])) == 1
