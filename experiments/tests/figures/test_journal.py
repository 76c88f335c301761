from __future__ import annotations

import numpy as np
import pytest

from sepool_experiments.figures.journal import Journal, keep_array, kept_arrays, read_rows
from sepool_experiments.results.lines import RunInfo
from sepool_experiments.results.rows import Rows, finished


@pytest.fixture
def units(short):
    return short.units(["ring"], ["SEP"], ["best"])


def add(folder, figure, units):
    with Journal(folder, figure, RunInfo.now(figure, "cpu", "replicas"), ["ring"]) as journal:
        for number, unit in enumerate(units):
            journal.add(unit, {"mse": 0.5 + number, "level": 2})


def test_rows_come_back(tmp_path, short, units):
    add(tmp_path, short, units)
    rows = read_rows(tmp_path, short)
    assert [row.unit for row in rows] == units
    assert rows[1].measured == {"mse": 1.5, "level": 2}
    assert finished(tmp_path, short) == {unit.key for unit in units}


def test_a_torn_line_is_cut_off(tmp_path, short, units):
    add(tmp_path, short, units[:1])
    path = tmp_path / "figure3" / "ring.jsonl"
    path.write_text(path.read_text() + '{"dataset":"ring","sys')
    assert len(read_rows(tmp_path, short)) == 1
    add(tmp_path, short, units[1:])
    assert len(read_rows(tmp_path, short)) == 2
    assert all(line.endswith("}") for line in path.read_text().splitlines())


def test_one_writer_at_a_time(tmp_path, short, units):
    pytest.importorskip("fcntl")
    with (
        Journal(tmp_path, short, RunInfo.now(short, "cpu", "replicas"), ["ring"]),
        pytest.raises(ValueError, match="another process writes"),
    ):
        add(tmp_path, short, units)


def test_the_tables_do_not_see_these_rows(tmp_path, short, units):
    pytest.importorskip("pandas")
    add(tmp_path, short, units)
    assert Rows.read(tmp_path).empty


def test_arrays(tmp_path, short, units):
    assert kept_arrays(tmp_path, short, "ring") == {}
    for number, unit in enumerate(units):
        keep_array(tmp_path, short, unit, np.full((3, 2), number, np.float32))
    kept = kept_arrays(tmp_path, short, "ring")
    assert set(kept) == {unit.key for unit in units}
    assert (kept[units[1].key] == 1).all()
