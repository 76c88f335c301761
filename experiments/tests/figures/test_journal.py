from __future__ import annotations

import math

import numpy as np
import pytest

from sepool_experiments.figures.journal import keep_array, kept_arrays, read_rows
from sepool_experiments.results.database import Writer
from sepool_experiments.results.pack import pack
from sepool_experiments.results.rows import Rows, finished
from sepool_experiments.results.run_info import RunInfo


@pytest.fixture
def units(short):
    return short.units(["ring"], ["SEP"], ["best"])


@pytest.fixture
def folder(tmp_path, short, units):
    """Two rows, of which the second has no level and no finite error."""
    with Writer(tmp_path, short, RunInfo.now(short, "cpu", "replicas")) as writer:
        writer.add_measured(units[0], {"mse": 1.5, "level": 2})
        writer.add_measured(units[1], {"mse": None})
    return tmp_path


@pytest.mark.parametrize("packed", [False, True])
def test_read_rows_values_come_back(folder, short, units, packed):
    if packed:
        pack(folder)
    first, second = read_rows(folder, short)
    assert [first.unit, second.unit] == units
    assert first.measured == {"mse": 1.5, "level": 2}
    assert list(second.measured) == ["mse"]
    assert math.isnan(second.measured["mse"])
    assert first.run.engine == "replicas"
    assert finished(folder, short) == {unit.key for unit in units}


def test_rows_read_figures_are_left_out(folder):
    assert Rows.read(folder).empty


def test_kept_arrays_are_those_of_the_units(tmp_path, short, units):
    assert kept_arrays(tmp_path, short, "ring") == {}
    for number, unit in enumerate(units):
        keep_array(tmp_path, short, unit, np.full((3, 2), number, np.float32))
    arrays = kept_arrays(tmp_path, short, "ring")
    assert set(arrays) == {unit.key for unit in units}
    assert (arrays[units[1].key] == 1).all()
