from __future__ import annotations

import shutil
import sqlite3

import pytest

from sepool_experiments.results.database import Writer, read_database
from sepool_experiments.results.rows import Rows, finished
from sepool_experiments.results.run_info import RunInfo


@pytest.fixture
def run_info(protocol):
    return RunInfo.now(protocol, "cpu", "test")


def test_writer_result_is_readable_at_once(tmp_path, units, result, protocol, run_info):
    with Writer(tmp_path, protocol, run_info) as writer:
        for number, unit in enumerate(units, 1):
            writer.add(result(unit))
            assert len(finished(tmp_path, protocol)) == number


def test_writer_close_leaves_one_plain_file(write, units):
    folder = write(units) / "table1"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rows.sqlite", "rows.lock"}
    assert (folder / "rows.lock").stat().st_size == 0


def test_writer_killed_process_loses_no_result(tmp_path, units, result, protocol, run_info):
    """The files of a writer that never closed, as a killed process leaves them."""
    writer = Writer(tmp_path / "alive", protocol, run_info)
    for unit in units[:5]:
        writer.add(result(unit))
    shutil.copytree(tmp_path / "alive", tmp_path / "dead")
    writer.close()
    assert (tmp_path / "dead" / "table1" / "rows.sqlite-wal").stat().st_size > 0
    assert finished(tmp_path / "dead", protocol) == {unit.key for unit in units[:5]}
    with Writer(tmp_path / "dead", protocol, run_info) as writer:
        writer.add(result(units[5]))
    assert len(finished(tmp_path / "dead", protocol)) == 6


def test_writer_same_process_is_refused(tmp_path, protocol, run_info):
    with Writer(tmp_path, protocol, run_info):
        with pytest.raises(ValueError, match="another process writes"):
            Writer(tmp_path, protocol, run_info)
        Writer(tmp_path / "other", protocol, run_info).close()


def test_writer_disk_full_keeps_earlier_results(tmp_path, units, result, protocol, run_info):
    stored, many = set(), protocol.units(["MUTAG"], ["SEP-G"], seeds=10)

    def add_all(writer):
        for unit in many:
            writer.add(result(unit))
            stored.add(unit.key)

    with Writer(tmp_path, protocol, run_info) as writer:
        writer.database.execute("PRAGMA max_page_count = 30")
        with pytest.raises(OSError, match=r"cannot write to .*: database or disk is full; what wa"):
            add_all(writer)
    assert 0 < len(stored) < len(many)
    assert finished(tmp_path, protocol) == stored
    with Writer(tmp_path, protocol, run_info) as writer:
        add_all(writer)
    assert finished(tmp_path, protocol) == {unit.key for unit in many}


def test_writer_unwritable_place_names_the_file(tmp_path, protocol, run_info):
    (tmp_path / "table1" / "rows.sqlite").mkdir(parents=True)
    with pytest.raises(OSError, match=r"cannot write to .*rows.sqlite: unable to open"):
        Writer(tmp_path, protocol, run_info)


@pytest.mark.parametrize("damage", ["cut", "zeros", "text"])
def test_read_database_damaged_file_is_named(write, units, protocol, damage):
    folder = write(protocol.units(["MUTAG"], ["SEP-G"], seeds=1))
    path = folder / "table1" / "rows.sqlite"
    whole = path.read_bytes()
    half = len(whole) // 2
    parts = {"cut": b"", "zeros": bytes(len(whole) - half), "text": b""}
    path.write_bytes(b"no database" * 999 if damage == "text" else whole[:half] + parts[damage])
    with pytest.raises(ValueError, match=r"rows.sqlite: no readable rows \(.*\); restore the file"):
        finished(folder, protocol)
    with pytest.raises(ValueError, match=r"rows.sqlite: no readable rows"):
        Rows.read(folder)


def test_read_database_newer_version_is_refused(write, units):
    folder = write(units[:1]) / "table1"
    with sqlite3.connect(folder / "rows.sqlite") as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="version 2 of the format; this sepool reads 1"):
        read_database(folder)


def test_read_database_killed_before_the_first_table_is_empty(tmp_path, protocol):
    folder = tmp_path / "table1"
    folder.mkdir()
    (folder / "rows.sqlite").touch()
    assert finished(tmp_path, protocol) == set()
