from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sepool_experiments.results.database import Writer
from sepool_experiments.results.pack import pack
from sepool_experiments.results.rows import Rows, check_same_data, finished, read_curves
from sepool_experiments.results.run_info import RunInfo


@pytest.fixture(params=["sqlite", "parquet", "both"])
def stored(request, write, units):
    """All units, in either format, or half of them in each."""
    half = len(units) // 2
    folder = write(units[:half] if request.param == "both" else units)
    if request.param != "sqlite":
        pack(folder)
    return write(units[half:]) if request.param == "both" else folder


def test_finished_units_are_those_stored(stored, units, protocol):
    assert finished(stored, protocol) == {unit.key for unit in units}


def test_finished_empty_folder_is_empty(tmp_path, protocol):
    assert finished(tmp_path / "none", protocol) == set()
    assert Rows.read(tmp_path / "none").empty


def test_rows_read_values_come_back(stored, units, result):
    table = Rows.read(stored).set_index("key")
    assert set(table.index) == {unit.key for unit in units}
    assert set(table["run_engine"]) == {"test"}
    for unit in units:
        row, expected = table.loc[unit.key], result(unit)
        assert (row["dataset"], row["fold"], row["seed"]) == (unit.dataset, unit.fold, unit.seed)
        assert (row["batch"], row["extra"]) == (32, ())
        assert row["config"] == str(unit.config)
        assert row["epochs"] == expected.epochs
        assert row["test_accuracy"] == round(expected.test_accuracy, 6)


def test_rows_read_two_results_of_a_unit_first_counts(write, units):
    write(units[:1], engine="first")
    pack(write(units[:1], engine="second"))
    folder = write(units[:1], engine="third")
    assert list(Rows.read(folder)["run_engine"]) == ["first"]


def test_rows_read_loss_not_finite_is_nan(tmp_path, units, result, protocol):
    broken = replace(result(units[0]), val_loss=math.nan, curve=((math.inf, math.nan),))
    with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
        writer.add(broken)
    for _ in range(2):
        assert math.isnan(Rows.read(tmp_path)["val_loss"][0])
        ((_, curve),) = read_curves(tmp_path)
        assert all(map(math.isnan, curve[0]))
        pack(tmp_path)


def test_read_curves_returns_those_of_units_that_keep_them(stored, units, result):
    curves = dict(read_curves(stored))
    assert list(curves) == [unit for unit in units if unit.keeps_curve]
    for unit, curve in curves.items():
        assert curve == list(result(unit).curve)


def test_finished_other_rules_are_refused(stored, protocol):
    with pytest.raises(ValueError, match=r"table1 holds results of other rules .* another --out"):
        finished(stored, replace(protocol, epochs=3))


@pytest.mark.parametrize("packed", [False, True])
def test_check_same_data_other_mark_is_refused(write, units, protocol, packed):
    folder = write((units[0], units[-1]), data={"MUTAG": "0123456789ab"})
    if packed:
        pack(folder)
    assert dict(Rows.read(folder)[["dataset", "run_data"]].to_numpy()) == {
        "MUTAG": "0123456789ab",
        "NCI1": "",
    }
    check_same_data(folder, protocol, {"MUTAG": "0123456789ab", "NCI1": "ab", "DD": "cd"})
    with pytest.raises(ValueError, match=r"other graphs or folds of MUTAG \(data 0123456789ab"):
        check_same_data(folder, protocol, {"MUTAG": "ba9876543210"})


def test_run_info_now_describes_this_program(protocol, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/some/place/sepool/__main__.py", "reproduce", "table1"])
    info = RunInfo.now(protocol, "cpu", "replicas")
    assert (info.protocol, info.digest) == ("table1", protocol.digest)
    assert info.command == "sepool reproduce table1"
    assert info.trees == info.sepool
    assert info.id != RunInfo.now(protocol, "cpu", "replicas").id
