from __future__ import annotations

import shutil
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sepool_experiments.results.database import Writer
from sepool_experiments.results.pack import pack
from sepool_experiments.results.rows import Rows, finished, read_curves
from sepool_experiments.results.run_info import RunInfo


def test_pack_rows_curves_and_runs_stay_the_same(write, units):
    write(units[:5], data={"MUTAG": "0123456789ab"})
    folder = write(units[5:], engine="second")
    rows, curves = Rows.read(folder), list(read_curves(folder))
    (packed,) = pack(folder)
    assert (packed.trainings, packed.added, packed.orphans) == (len(units), len(units), 0)
    pd.testing.assert_frame_equal(Rows.read(folder), rows)
    assert list(read_curves(folder)) == curves
    names = {path.name for path in (folder / "table1").iterdir()}
    assert names == {"rows.parquet", "runs.parquet", "rows.lock"}
    assert packed.size == (folder / "table1" / "rows.parquet").stat().st_size


def test_pack_again_has_nothing_to_do(write, units):
    folder = write(units)
    pack(folder)
    before = (folder / "table1" / "rows.parquet").read_bytes()
    assert pack(folder) == []
    assert (folder / "table1" / "rows.parquet").read_bytes() == before


def test_pack_later_rows_join_the_packed_ones(write, units, protocol):
    pack(write(units[:7]))
    (packed,) = pack(write(units[7:]))
    assert (packed.trainings, packed.added) == (len(units), len(units) - 7)
    assert finished(packed.folder.parent, protocol) == {unit.key for unit in units}


def test_pack_after_an_interrupted_packing_has_every_row_once(write, units, tmp_path):
    folder = write(units)
    shutil.copy(folder / "table1" / "rows.sqlite", tmp_path / "before")
    pack(folder)
    shutil.copy(tmp_path / "before", folder / "table1" / "rows.sqlite")
    assert len(Rows.read(folder)) == len(units)
    (packed,) = pack(folder)
    assert (packed.trainings, packed.added) == (len(units), 0)


def test_pack_while_a_run_writes_is_refused(tmp_path, units, result, protocol):
    with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
        writer.add(result(units[0]))
        with pytest.raises(ValueError, match=r"another process writes to .*table1"):
            pack(tmp_path)
        writer.add(result(units[1]))
    assert len(finished(tmp_path, protocol)) == 2


def test_pack_files_are_read_by_pandas_alone(write, units):
    folder = write(units) / "table1"
    pack(folder.parent)
    rows, runs = pd.read_parquet(folder / "rows.parquet"), pd.read_parquet(folder / "runs.parquet")
    joined = rows.merge(runs, left_on=["run", "dataset"], right_on=["id", "dataset"])
    assert len(joined) == len(units)
    assert set(joined["config"]) == {'{"batch":32}', '{"batch":32,"schedule":"cosine"}'}
    assert set(joined["device"]) == {"cpu"}
    assert joined["curve_val"].notna().sum() == sum(unit.keeps_curve for unit in units)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("rows.parquet", damage) for damage in ("cut", "text", "columns")),
        *(("runs.parquet", damage) for damage in ("cut", "text", "columns", "missing")),
    ],
)
def test_read_parquet_damaged_file_is_named(write, units, protocol, name, damage):
    folder = write(units)
    pack(folder)
    path = folder / "table1" / name
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "text":
        path.write_text("no table")
    elif damage == "columns":
        pq.write_table(pq.read_table(path).drop_columns(["dataset"]), path)
    else:
        path.unlink()
    with pytest.raises(ValueError, match=rf"{name}: no readable rows \(.*\); restore the file"):
        finished(folder, protocol)


def test_read_parquet_row_without_its_run_is_refused(write, units, protocol):
    folder = write(units)
    pack(folder)
    path = folder / "table1" / "runs.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(ValueError, match=r"rows.parquet: runs.parquet lacks the runs"):
        finished(folder, protocol)


def test_pack_add_joins_rows_of_another_folder(write, units, protocol):
    folder, other = write(units[:7]), write(units[5:], engine="there", folder="elsewhere")
    (packed,) = pack(folder, other)
    assert packed.folder == folder / "table1"
    table = Rows.read(folder)
    assert set(table["key"]) == {unit.key for unit in units}
    assert table["run_engine"].value_counts().to_dict() == {"test": 7, "there": len(units) - 7}
    assert len(finished(other, protocol)) == len(units) - 5


def test_pack_add_to_an_empty_folder_makes_it(tmp_path, write, units, protocol):
    pack(tmp_path / "new", write(units))
    assert len(finished(tmp_path / "new", protocol)) == len(units)


def test_pack_add_other_rules_or_data_are_refused(write, units, protocol):
    folder = write(units[:1], data={"MUTAG": "0123456789ab"})
    other = write(units[1:2], data={"MUTAG": "ba9876543210"}, folder="elsewhere")
    with pytest.raises(ValueError, match=r"table1 holds results of other graphs .* of MUTAG"):
        pack(folder, other)
    shutil.rmtree(other)
    write(units[1:2], replace(protocol, epochs=3), folder="elsewhere")
    with pytest.raises(ValueError, match=r"table1 holds results of other rules \(3f014d0230ef, "):
        pack(folder, other)
    assert finished(folder, protocol) == {units[0].key}
