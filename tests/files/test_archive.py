from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from sepool.files.archive import ArchiveError, narrow, read_archive, write_archive

DTYPES = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "?",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_narrow_keeps_every_value(dtype):
    @given(arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0)))
    def check(array):
        small = narrow(array)
        assert small.nbytes <= array.nbytes
        assert small.astype(array.dtype).tobytes() == array.tobytes()

    check()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 255], np.uint8),
        ([0, 256], np.uint16),
        ([-1, 5], np.int8),
        ([-1, 200], np.int16),
        ([0.0, 1.0], np.uint8),
        ([-0.0, 1.0], np.float64),
        ([0.5], np.float64),
        ([np.nan], np.float64),
        ([2**40], np.int64),
        ([], np.float64),
        ([True], np.bool_),
    ],
)
def test_narrow_takes_the_smallest_type(values, dtype):
    assert narrow(np.array(values)).dtype == dtype


def test_write_archive_failure_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "numbers.npz"
    write_archive(path, "numbers", 1, {"some": np.arange(3)})

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        write_archive(path, "numbers", 1, {"some": np.arange(4)})
    monkeypatch.undo()
    assert read_archive(path, "numbers", 1)["some"].tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == [path]


def test_read_archive_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "numbers.npz", "numbers", 1)


def test_read_archive_other_archive_is_refused(tmp_path):
    np.savez(tmp_path / "numbers.npz", some=np.arange(3))
    with pytest.raises(ArchiveError, match="not a NumPy archive"):
        read_archive(tmp_path / "numbers.npz", "numbers", 1)


def test_read_archive_bomb_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "numbers.npz"
    np.savez_compressed(path, format=np.array("numbers"), version=1, some=np.zeros(10**6))
    assert path.stat().st_size < 100_000
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.001")
    with pytest.raises(ArchiveError, match=r"npz: it unpacks to more than 0\.001 GB; set SEPOOL_M"):
        read_archive(path, "numbers", 1)
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.1")
    assert not read_archive(path, "numbers", 1)["some"].any()
