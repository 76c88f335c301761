"""Fixtures of the tests of experiments."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
sys.path.append(HERE)  # for shared modules
TRAINER = "fake_trainer:train"
PATH = ((0, 1), (1, 0), (1, 2), (2, 1))


@pytest.fixture
def options(tmp_path, monkeypatch):
    """Options with the fake trainer, on the path of worker processes too."""
    from sepool_experiments.backends import RunOptions

    monkeypatch.syspath_prepend(HERE)
    for name in ("LOG", "DIE", "FAIL", "KILL", "QUICK", "SECONDS"):
        monkeypatch.delenv(f"FAKE_{name}", raising=False)
    messages: list[str] = []
    options = RunOptions(tmp_path, workers=2, trainer=TRAINER, log=messages.append)
    object.__setattr__(options, "messages", messages)
    return options


@pytest.fixture
def result(monkeypatch):
    """The fake trainer's result of a unit."""
    monkeypatch.syspath_prepend(HERE)
    import fake_trainer

    yield fake_trainer.result
    sys.modules.pop("fake_trainer", None)


@pytest.fixture
def protocol():
    from sepool_experiments.protocols.catalog import PROTOCOLS

    return PROTOCOLS["table1"]


@pytest.fixture
def units(protocol):
    """Twelve units: two datasets, three folds, two configurations."""
    return protocol.units(["MUTAG", "NCI1"], ["SEP-G"], seeds=1, folds=3, configs=[0, 1])


@pytest.fixture
def write(tmp_path, result):
    """Write synthetic results, by default with best trees two points above the others."""
    from sepool_experiments.protocols.catalog import PROTOCOLS
    from sepool_experiments.results.database import Writer
    from sepool_experiments.results.run_info import RunInfo

    def write(units, protocol=PROTOCOLS["table1"], level=lambda unit: 0.02 * (unit.tree == "best")):
        """Write a test accuracy of 70 percent plus the level of the unit and noise."""
        with Writer(tmp_path / "results", protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
            for unit in units:
                made = result(unit)
                accuracy = 0.7 + level(unit) + (made.test_accuracy - 0.7) / 50
                writer.add(replace(made, test_accuracy=accuracy))
        return tmp_path / "results"

    return write


@pytest.fixture
def records():
    """Read the CSV file of a table."""

    def read(folder, name):
        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    return read


@pytest.fixture
def data(tmp_path):
    """A dataset of twenty paths of three nodes, and ten folds, as files."""
    root = tmp_path / "data"
    raw, splits = root / "TU" / "MUTAG" / "raw", root / "splits" / "MUTAG"
    raw.mkdir(parents=True)
    splits.mkdir(parents=True)
    files = {
        "A": [f"{a + i}, {a + j}" for a in range(1, 61, 3) for i, j in PATH],
        "graph_indicator": [1 + node // 3 for node in range(60)],
        "graph_labels": [1, -1] * 10,
        "node_labels": [0, 1, 0] * 20,
    }
    for name, lines in files.items():
        (raw / f"MUTAG_{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    for fold in range(10):
        (splits / f"test_idx-{fold + 1}.txt").write_text(f"{fold}\n{fold + 10}\n")
    return root
