from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from sepool.files.atomic import atomic_write, check_output


def test_atomic_write_file_appears_whole(tmp_path):
    with atomic_write(tmp_path / "file") as file:
        file.write(b"new")
        assert not (tmp_path / "file").exists()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
def test_atomic_write_failure_keeps_the_old_file(tmp_path, failure):
    (tmp_path / "file").write_bytes(b"old")

    def write_and_fail():
        with atomic_write(tmp_path / "file") as file:
            file.write(b"ne")
            raise failure

    with pytest.raises(type(failure)):
        write_and_fail()
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_atomic_write_follows_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_check_output_read_only_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(tmp_path))
    with pytest.raises(
        PermissionError, match=r"cannot write .*/file: the folder .* is not writable"
    ):
        check_output(tmp_path / "file")


def test_atomic_write_errors_name_the_file_and_not_its_draft(tmp_path, monkeypatch):
    def replace(draft, target):
        raise PermissionError(errno.EACCES, "Permission denied", draft, None, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(PermissionError) as caught, atomic_write(tmp_path / "file"):
        pass
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "file"), None)
    assert os.listdir(tmp_path) == []


def test_atomic_write_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not a regular file"):
        atomic_write(tmp_path).__enter__()


def test_check_output_folder_is_named_as_such(tmp_path):
    with pytest.raises(ValueError, match="it is a folder, not a regular file; move it away"):
        check_output(tmp_path)


def test_atomic_write_longest_name_is_written(tmp_path):
    name = "n" * os.pathconf(tmp_path, "PC_NAME_MAX")
    with atomic_write(tmp_path / name) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == [name]


def test_check_output_longer_name_is_refused(tmp_path):
    name = "n" * (os.pathconf(tmp_path, "PC_NAME_MAX") + 1)
    with pytest.raises(ValueError, match=r"File name too long; choose a shorter name$"):
        check_output(tmp_path / name)


def test_check_output_leaves_no_file(tmp_path):
    check_output(tmp_path / "file")
    assert os.listdir(tmp_path) == []


def test_check_output_full_disk_is_refused(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OSError, match=r"cannot write .*/file: No space left on device$"):
        check_output(tmp_path / "file")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_atomic_write_replaced_file_keeps_its_mode(tmp_path, mode):
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(mode)
    with atomic_write(tmp_path / "file") as file:
        [draft] = tmp_path.glob(".*.tmp")
        assert stat.S_IMODE(draft.stat().st_mode) == mode
        file.write(b"new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    assert (tmp_path / "file").read_bytes() == b"new"


def test_atomic_write_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "file"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


WRITER = """
import sys, time
from sepool.files.atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def start_writer(path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.skipif(os.name != "posix", reason="POSIX locks")
def test_atomic_write_drafts_of_killed_processes_alone_are_removed(tmp_path):
    (tmp_path / ".sepool-of-a-user.tmp").touch()
    with start_writer(tmp_path / "one") as killed, start_writer(tmp_path / "two") as living:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert len(list(tmp_path.glob(".sepool-????????.tmp"))) == 2
        with atomic_write(tmp_path / "three") as file:
            file.write(b"new")
        assert len(list(tmp_path.glob(".sepool-????????.tmp"))) == 1
        living.send_signal(signal.SIGINT)
    assert sorted(os.listdir(tmp_path)) == [".sepool-of-a-user.tmp", "three"]
