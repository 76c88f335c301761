"""Arrays in compact, versioned NumPy archives (``.npz``); reading one executes nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.atomic import StrPath, atomic_write
from sepool.files.limits import BeyondLimit, check_archive

Arrays = dict[str, NDArray[Any]]


class ArchiveError(ValueError):
    """Raised when a file is damaged, of another format or of another version."""


def write_archive(
    path: StrPath, name: str, version: int, arrays: Arrays, *, compress: bool = True
) -> None:
    """Write arrays whole or not at all; compressed whole numbers take as few bytes as fit."""
    small: dict[str, Any] = {k: narrow(x) if compress else x for k, x in arrays.items()}
    save = np.savez_compressed if compress else np.savez
    with atomic_write(path) as file:
        save(file, format=np.array(name), version=np.array(version), **small)


def read_archive(
    path: StrPath, name: str, version: int, *, only: Collection[str] | None = None
) -> Arrays:
    """Read a file of `write_archive`, all arrays or those with some names.

    Raises:
        ArchiveError: the file is damaged, of another format or of another version.
    """
    with open(path, "rb") as file, _errors(path):
        arrays = load_arrays(file, None if only is None else {"format", "version", *only})
        actual = str(arrays.pop("format"))
        number = int(arrays.pop("version"))
    if actual != name:
        raise ArchiveError(f"{os.fspath(path)}: expected {name}, the file holds {actual!r}")
    if number != version:
        raise ArchiveError(
            f"{os.fspath(path)}: version {number} of the format; this sepool reads {version}"
        )
    return arrays


def load_arrays(file: IO[bytes], names: Collection[str] | None = None) -> Arrays:
    """Return all arrays of a NumPy archive, or some; damaged ones fail in a dozen ways.

    Raises:
        sepool.files.limits.BeyondLimit: the archive unpacks to more than the limit.
    """
    check_archive(file)
    with np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive if names is None or name in names}


@contextmanager
def _errors(path: StrPath) -> Iterator[None]:
    """Turn any error in a file into an `ArchiveError`."""
    try:
        yield
    except BeyondLimit as error:
        raise ArchiveError(f"{os.fspath(path)}: {error}") from None
    except Exception:
        raise ArchiveError(
            f"{os.fspath(path)}: truncated, or not a NumPy archive of plain arrays"
        ) from None


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in as few bytes as fit, and other arrays unchanged."""
    if array.dtype.kind not in "iuf" or not array.size:
        return array
    low, high = float(array.min()), float(array.max())
    if not -(2.0**31) <= low <= high < 2.0**31:  # NaN too
        return array
    # A signed type holds -n - 1 where it holds n.
    dtype = np.min_scalar_type(min(int(low), -int(high) - 1) if low < 0 else int(high))
    if dtype.itemsize >= array.dtype.itemsize:
        return array
    small = array.astype(dtype)
    same = np.array_equal(small, array) and not (np.signbit(array) & (array == 0)).any()
    return small if same else array
