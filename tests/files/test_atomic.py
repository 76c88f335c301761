from __future__ import annotations

import errno
import os

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
