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
    """Write the fake results of units and return the folder.

    With a level, test accuracies are 70 percent plus the level of the unit and noise.
    """
    from sepool_experiments.protocols.catalog import PROTOCOLS
    from sepool_experiments.results.database import Writer
    from sepool_experiments.results.run_info import RunInfo

    table1 = PROTOCOLS["table1"]

    def write(units, protocol=table1, level=None, data=None, engine="test", folder="results"):
        info = RunInfo.now(protocol, "cpu", engine)
        with Writer(tmp_path / folder, protocol, info, data) as writer:
            for unit in units:
                made = result(unit)
                if level is not None:
                    accuracy = 0.7 + level(unit) + (made.test_accuracy - 0.7) / 50
                    made = replace(made, test_accuracy=accuracy)
                writer.add(made)
        return tmp_path / folder

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
    from small_graphs import write_files

    return write_files(tmp_path / "data", [([(0, 1), (1, 2)], 3)] * 20, [0, 1, 0] * 20)
