from __future__ import annotations

import json
import math
from dataclasses import asdict

import pytest

from sepool_experiments.results.pack import pack
from sepool_experiments.results.rows import Rows, finished, read_curves
from sepool_experiments.results.run_info import RunInfo


@pytest.fixture
def old(tmp_path, protocol, result):
    """Write results of units as sepool 0.1 did and return the file of the first dataset."""

    def old(units, **run):
        info = {**asdict(RunInfo.now(protocol, "cpu", "test")), "id": "r", "sepool": "0.1.0", **run}
        del info["trees"], info["data"]
        folder = tmp_path / protocol.name
        folder.mkdir(exist_ok=True)
        for dataset in dict.fromkeys(unit.dataset for unit in units):
            rows, curves = [{"run": info}], []
            for made in (result(unit) for unit in units if unit.dataset == dataset):
                measured = asdict(made)
                del measured["unit"]
                curve = measured.pop("curve")
                names = ("dataset", "system", "tree", "fold", "seed")
                unit = {name: getattr(made.unit, name) for name in names}
                row = {**unit, **made.unit.config.changes()}
                rows.append({**row, **measured, "run": info["id"]})
                if curve:
                    curves.append({**row, "run": info["id"], "curve": curve})
            write(folder / f"{dataset}.jsonl", rows)
            write(folder / f"{dataset}.curves.jsonl", curves)
        return folder / f"{units[0].dataset}.jsonl"

    return old


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def lines_of(path):
    return path.read_text().splitlines(keepends=True)


def test_read_protocol_old_rows_name_the_command(old, units, protocol, tmp_path):
    path = old(units)
    told = rf"{path.parent}/MUTAG.*jsonl has the format of sepool 0.1; `sepool pack {tmp_path}`"
    for read in (lambda: finished(tmp_path, protocol), lambda: Rows.read(tmp_path)):
        with pytest.raises(ValueError, match=told):
            read()


def test_pack_old_rows_keeps_all_of_them(old, units, result, protocol, tmp_path):
    path = old(units)
    (packed,) = pack(tmp_path)
    assert (packed.trainings, packed.orphans) == (len(units), 0)
    assert not list(path.parent.glob("*.jsonl"))
    assert finished(tmp_path, protocol) == {unit.key for unit in units}
    table = Rows.read(tmp_path).set_index("key")
    for unit in units:
        row, expected = table.loc[unit.key], result(unit)
        assert row["test_accuracy"] == expected.test_accuracy  # to the last bit
        assert row["val_loss"] == expected.val_loss
    assert set(zip(table["run_sepool"], table["run_trees"], table["run_data"], strict=True)) == {
        ("0.1.0", "0.1.0", "")
    }
    curves = dict(read_curves(tmp_path))
    assert curves == {unit: list(result(unit).curve) for unit in units if unit.keeps_curve}


def test_pack_old_rows_join_new_ones(old, units, protocol, tmp_path):
    from sepool_experiments.results.database import Writer

    old(units[:4])
    with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "new")):
        pass
    (packed,) = pack(tmp_path)
    assert packed.trainings == 4


def test_pack_old_loss_null_becomes_nan(old, units, tmp_path):
    path = old(units[:1])
    head, row = map(json.loads, lines_of(path))
    write(path, [head, {**row, "val_loss": None}])
    curves = path.with_name("MUTAG.curves.jsonl")
    write(curves, [{**json.loads(curves.read_text()), "curve": [[0.5, None]]}])
    pack(tmp_path)
    assert math.isnan(Rows.read(tmp_path)["val_loss"][0])
    ((_, ((train, val),)),) = read_curves(tmp_path)
    assert train == 0.5
    assert math.isnan(val)


@pytest.mark.parametrize("torn", [b'{"dataset":"MUT', b"\0\0\0", b"{" * 200_000])
def test_pack_old_torn_last_line_is_left_out(old, units, protocol, tmp_path, torn):
    path = old(units[:2])
    path.write_bytes(path.read_bytes() + torn)
    pack(tmp_path)
    assert len(finished(tmp_path, protocol)) == 2


def test_pack_old_curve_without_row_is_counted(old, units, tmp_path):
    path = old(units[:2])
    path.write_text(lines_of(path)[0] + lines_of(path)[2])
    (packed,) = pack(tmp_path)
    assert (packed.trainings, packed.orphans) == (1, 1)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("test_accuracy", None, "test_accuracy must be a number from 0 to 1, got None"),
        ("test_accuracy", 85.6, "test_accuracy must be a number from 0 to 1, got 85.6"),
        ("val_accuracy", math.nan, "val_accuracy must be a number from 0 to 1, got nan"),
        ("val_accuracy", ..., "val_accuracy is missing"),
        ("val_loss", "low", "val_loss must be a number, got 'low'"),
        ("epochs", 2.5, "epochs must be a whole number from 0, got 2.5"),
        ("seconds", -1, "seconds must be a number from 0, got -1"),
        ("fold", -1, "fold must be a whole number from 0, got -1"),
        ("seed", ..., "seed is missing"),
        ("system", 7, "system must be a text, got 7"),
        ("batch", "32", "batch must be of the type of 128, got '32'"),
        ("dropout", None, "dropout must be a number, got None"),
        ("extra", [["depth"]], "extra must be pairs"),
        ("extra", 3, "not iterable"),
        ("run", ["r"], "run must be a text"),
    ],
)
def test_pack_old_damaged_value_is_named_and_nothing_changed(
    old, units, tmp_path, name, value, message
):
    path = old(units[:3])
    lines = lines_of(path)
    row = {**json.loads(lines[2]), name: value}
    if value is ...:
        del row[name]
    path.write_text("".join([*lines[:2], f"{json.dumps(row)}\n", *lines[3:]]))
    with pytest.raises(ValueError, match=rf"MUTAG.jsonl:3: not a line of results \(.*{message}"):
        pack(tmp_path)
    assert len(lines_of(path)) == 4
    assert not list(tmp_path.glob("*/*.parquet"))


@pytest.mark.parametrize("line", ["[]", "3", '{"run":{}}', '{"run":{"id":3}}', "{}", "half a line"])
def test_pack_old_line_that_is_no_row_is_named(old, units, tmp_path, line):
    path = old(units[:2])
    path.write_text(path.read_text() + f"{line}\n")
    with pytest.raises(ValueError, match=r"MUTAG.jsonl:4: not a line of results .*restore the fil"):
        pack(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"curve": [[0.5]]},
        {"curve": [[0.5, "x"]]},
        {"curve": None},
        {"curve": 1},
        {"fold": -1},
        {"seed": None},
    ],
)
def test_pack_old_damaged_curve_is_named(old, units, tmp_path, change):
    path = old(units[:1]).with_name("MUTAG.curves.jsonl")
    write(path, [{**json.loads(path.read_text()), **change}])
    with pytest.raises(ValueError, match=r"MUTAG.curves.jsonl:1: not a line of results"):
        pack(tmp_path)


def test_pack_old_rows_without_their_run_are_named(old, units, tmp_path):
    path = old(units[:2])
    path.write_text("".join(lines_of(path)[1:]))
    with pytest.raises(ValueError, match=r"MUTAG.jsonl:1: .*no line above describes its run 'r'"):
        pack(tmp_path)
