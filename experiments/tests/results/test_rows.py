from __future__ import annotations

import json
import math
import os
from dataclasses import replace

import pytest

from sepool_experiments.results import rows as rows_module
from sepool_experiments.results.lines import RunInfo, result_to_row, row_to_unit
from sepool_experiments.results.rows import Rows, Writer, check_same_data, finished, read_curves


@pytest.fixture
def write(tmp_path, protocol, result):
    """Writes the fake results of units and returns the folder."""

    def write(units, protocol=protocol):
        with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
            for unit in units:
                writer.add(result(unit))
        return tmp_path

    return write


def file_of(folder, unit):
    return folder / unit.protocol / f"{unit.dataset}.jsonl"


def test_a_row_is_short_and_comes_back(units, result):
    row = result_to_row(result(units[0]), "r")
    assert "hidden" not in row
    assert row["batch"] == 32
    assert row_to_unit(json.loads(json.dumps(row)), "table1") == units[0]


def test_a_loss_that_is_no_number(units, result, protocol, tmp_path):
    broken = replace(result(units[0]), val_loss=math.nan, curve=((math.inf, math.nan),))
    with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
        writer.add(broken)
    pytest.importorskip("pandas")
    assert math.isnan(Rows.read(tmp_path)["val_loss"][0])
    ((_, curve),) = read_curves(tmp_path)
    assert all(map(math.isnan, curve[0]))


def test_what_was_written_is_finished(write, units, protocol):
    folder = write(units[:5])
    assert finished(folder, protocol) == {u.key for u in units[:5]}
    write(units[5:])
    assert finished(folder, protocol) == {u.key for u in units}
    assert sorted(p.name for p in (folder / "table1").iterdir()) == [
        "MUTAG.curves.jsonl",
        "MUTAG.jsonl",
        "NCI1.curves.jsonl",
        "NCI1.jsonl",
    ]


def test_an_empty_folder(tmp_path, protocol):
    pytest.importorskip("pandas")
    assert finished(tmp_path / "none", protocol) == set()
    assert len(Rows.read(tmp_path / "none")) == 0


def test_table_of_rows(write, units, result):
    pytest.importorskip("pandas")
    table = Rows.read(write(units))
    assert len(table) == len(units)
    assert set(table["key"]) == {u.key for u in units}
    assert set(table["run_engine"]) == {"test"}
    assert set(table["batch"]) == {32}
    one = table[table["key"] == units[1].key].iloc[0]
    assert one["test_accuracy"] == pytest.approx(result(units[1]).test_accuracy)
    assert one["config"] == str(units[1].config)


def test_the_first_of_two_wins(write, units, tmp_path, protocol, result):
    pytest.importorskip("pandas")
    write(units[:1])
    with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "second")) as writer:
        writer.add(replace(result(units[0]), test_accuracy=0.0))
    table = Rows.read(tmp_path)
    assert len(table) == 1
    assert table["run_engine"][0] == "test"


def test_curves(write, units, result):
    folder = write(units)
    curves = dict(read_curves(folder))
    kept = [u for u in units if u.keeps_curve]
    assert list(curves) == kept
    assert curves[kept[0]] == list(result(kept[0]).curve)


@pytest.mark.parametrize("torn", [b'{"dataset":"MUT', b"\0\0\0", b"{" * 200_000])
def test_a_torn_last_line(write, units, protocol, torn):
    folder = write(units[:2])
    path = file_of(folder, units[0])
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert len(finished(folder, protocol)) == 2
    write(units[2:3])
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes()[len(whole) :].startswith(b'{"run":')
    assert finished(folder, protocol) == {u.key for u in units[:3]}


@pytest.mark.parametrize("length", [0, 1, 40])
def test_a_file_that_is_only_a_torn_line(write, units, protocol, tmp_path, length):
    path = file_of(tmp_path, units[0])
    path.parent.mkdir()
    path.write_bytes(b"x" * length)
    write(units[:1])
    assert finished(tmp_path, protocol) == {units[0].key}


def test_cut_anywhere(write, units, protocol):
    """A crash can cut the file at any byte: what is before stays readable and can be added to."""
    folder = write(units[:3])
    path = file_of(folder, units[0])
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        kept = finished(folder, protocol)
        write([u for u in units[:3] if u.key not in kept])
        assert finished(folder, protocol) == {u.key for u in units[:3]}


def test_damage_in_the_middle_is_not_ignored(write, units, protocol):
    folder = write(units[:2])
    path = file_of(folder, units[0])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + "half a line\n" + lines[2])
    with pytest.raises(ValueError, match=r"MUTAG.jsonl:2: not a line of results .*restore"):
        finished(folder, protocol)


class TestDamagedValues:
    """What is a line of JSON but no result is named with its place, by all who read it."""

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("test_accuracy", None, "test_accuracy must be a number from 0 to 1, got None"),
            ("test_accuracy", "0.8", "test_accuracy must be a number from 0 to 1, got '0.8'"),
            ("test_accuracy", 85.6, "test_accuracy must be a number from 0 to 1, got 85.6"),
            ("val_accuracy", math.nan, "val_accuracy must be a number from 0 to 1, got nan"),
            ("val_accuracy", ..., "val_accuracy is missing"),
            ("val_loss", "low", "val_loss must be a number, got 'low'"),
            ("epochs", 2.5, "epochs must be a whole number from 0, got 2.5"),
            ("seconds", -1, "seconds must be a number from 0, got -1"),
            ("fold", -1, "fold must be a whole number from 0, got -1"),
            ("fold", True, "fold must be a whole number from 0, got True"),
            ("seed", "0", "seed must be a whole number from 0, got '0'"),
            ("seed", ..., "seed is missing"),
            ("system", 7, "system must be a text, got 7"),
            ("batch", "32", "batch must be of the kind of 128, got '32'"),
            ("dropout", None, "dropout must be a number, got None"),
            ("extra", [["depth"]], "extra must be pairs"),
            ("extra", 3, "not iterable"),
            ("run", ["r"], "unhashable"),
        ],
    )
    def test_of_a_row(self, write, units, protocol, name, value, message):
        folder = write(units[:3])
        lines = file_of(folder, units[0]).read_text().splitlines(keepends=True)
        row = {**json.loads(lines[2]), name: value}
        if value is ...:
            del row[name]
        lines[2] = json.dumps(row) + "\n"
        file_of(folder, units[0]).write_text("".join(lines))
        wrong = rf"MUTAG.jsonl:3: not a line of results \(.*{message}.*\); restore"
        with pytest.raises(ValueError, match=wrong):
            finished(folder, protocol)
        pytest.importorskip("pandas")
        with pytest.raises(ValueError, match=wrong):
            Rows.read(folder)

    @pytest.mark.parametrize("line", ["[]", "3", '{"run":{}}', '{"run":{"id":3}}', "{}"])
    def test_of_a_line(self, write, units, protocol, line):
        folder = write(units[:2])
        with open(file_of(folder, units[0]), "a") as file:
            file.write(f"{line}\n")
        with pytest.raises(ValueError, match=r"MUTAG.jsonl:4: not a line of results"):
            finished(folder, protocol)

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
    def test_of_a_curve(self, write, units, change):
        folder = write(units[:1])
        path = folder / "table1" / "MUTAG.curves.jsonl"
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
        with pytest.raises(ValueError, match=r"MUTAG.curves.jsonl:1: not a line of results"):
            list(read_curves(folder))

    def test_a_torn_curve_is_left_out(self, write, units):
        folder = write(units[:1])
        path = folder / "table1" / "MUTAG.curves.jsonl"
        path.write_text("half a line\n" + path.read_text())
        with pytest.raises(ValueError, match=r"MUTAG.curves.jsonl:1: not a line of results"):
            list(read_curves(folder))
        path.write_text(path.read_text().splitlines(keepends=True)[1] + '{"dataset":"MU')
        assert len(list(read_curves(folder))) == 1


class TestOtherData:
    """Rows say of which graphs and folds they are, and rows of others do not join them."""

    @pytest.fixture
    def marked(self, tmp_path, units, protocol, result):
        info = RunInfo.now(protocol, "cpu", "test")
        with Writer(tmp_path, protocol, info, (), {"MUTAG": "0123456789ab"}) as writer:
            for unit in (units[0], units[-1]):
                writer.add(result(unit))
        return tmp_path

    def test_the_mark_is_in_the_run(self, marked):
        pytest.importorskip("pandas")
        found = Rows.read(marked)
        assert dict(zip(found["dataset"], found["run_data"], strict=True)) == {
            "MUTAG": "0123456789ab",
            "NCI1": "",
        }

    def test_another_mark_is_refused(self, marked, protocol):
        check_same_data(marked, protocol, {"MUTAG": "0123456789ab", "NCI1": "ab", "DD": "cd"})
        with pytest.raises(ValueError, match=r"MUTAG.jsonl holds results of other graphs or folds"):
            check_same_data(marked, protocol, {"MUTAG": "ba9876543210"})

    def test_runs_of_before_have_no_mark(self, write, units, protocol):
        folder = write(units[:1])
        path = file_of(folder, units[0])
        path.write_text(path.read_text().replace(',"data":""', ""))
        assert '"data"' not in path.read_text()
        check_same_data(folder, protocol, {"MUTAG": "0123456789ab"})
        assert finished(folder, protocol) == {units[0].key}


def test_rows_without_their_run(write, units, protocol):
    folder = write(units[:2])
    path = file_of(folder, units[0])
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(ValueError, match="no line above describes its run"):
        finished(folder, protocol)


def test_results_of_other_rules_are_refused(write, units, protocol):
    folder = write(units[:1])
    with pytest.raises(ValueError, match=r"holds results of another protocol .* another --out"):
        finished(folder, replace(protocol, epochs=3))


def test_two_writers(write, units, protocol, tmp_path):
    info = RunInfo.now(protocol, "cpu", "test")
    with (
        Writer(tmp_path, protocol, info, ["MUTAG"]),
        Writer(tmp_path, protocol, info, ["NCI1"]),
        pytest.raises(ValueError, match=r"another process writes to .*MUTAG.jsonl"),
    ):
        Writer(tmp_path, protocol, info, ["PROTEINS", "MUTAG"])
    write(units[:1])


def test_on_the_disk_a_second_later(units, protocol, result, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(rows_module, "SYNC_SECONDS", 0.01)
    monkeypatch.setattr(os, "fsync", synced.append)
    with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
        writer.add(result(units[0]))
        timer = writer._timer
        assert timer is not None
        timer.join(5)
        assert len(synced) == 2  # the rows and the curves
        assert finished(tmp_path, protocol) == {units[0].key}


def test_run_info(protocol):
    info = RunInfo.now(protocol, "cpu", "replicas")
    assert (info.protocol, info.digest) == ("table1", protocol.digest)
    assert info.id != RunInfo.now(protocol, "cpu", "replicas").id
    assert "/" not in info.command.split()[0]


def test_a_run_is_named_as_it_is_typed(protocol, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/some/place/sepool/__main__.py", "reproduce", "table1"])
    assert RunInfo.now(protocol, "cpu", "replicas").command == "sepool reproduce table1"
