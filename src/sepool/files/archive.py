"""Arrays in a file: a NumPy archive (``.npz``), small, versioned, and read without running code."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.atomic import StrPath, atomic_write

Arrays = dict[str, NDArray[Any]]


class ArchiveError(ValueError):
    """A file is damaged, or not of the kind that was asked for."""


def write_archive(path: StrPath, kind: str, version: int, arrays: Arrays) -> None:
    """Writes arrays, compressed, whole or not at all; whole numbers take as few bytes as fit.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "numbers.npz")
        ...     write_archive(path, "numbers", 1, {"some": np.array([1, 300])})
        ...     read_archive(path, "numbers", 1)
        {'some': array([  1, 300], dtype=uint16)}
    """
    small: dict[str, Any] = {name: narrow(array) for name, array in arrays.items()}
    with atomic_write(path) as file:
        np.savez_compressed(file, format=np.array(kind), version=np.array(version), **small)


def read_archive(path: StrPath, kind: str, version: int) -> Arrays:
    """Reads what `write_archive` wrote.

    Raises:
        ArchiveError: the file is damaged, of another kind or of another version.
    """
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive.items())
            found, number = str(arrays.pop("format")), int(arrays.pop("version"))
        except Exception:  # a damaged archive fails in a dozen ways
            raise ArchiveError(
                f"{os.fspath(path)}: truncated, or not a NumPy archive of plain arrays"
            ) from None
    if found != kind:
        raise ArchiveError(f"{os.fspath(path)}: expected {kind}, the file holds {found!r}")
    if number != version:
        raise ArchiveError(
            f"{os.fspath(path)}: version {number} of the format; this sepool reads {version}"
        )
    return arrays


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in as few bytes as fit; other arrays as they are.

    Example:
        >>> narrow(np.array([0.0, 1.0])).dtype, narrow(np.array([0.5])).dtype
        (dtype('uint8'), dtype('float64'))
    """
    if array.dtype.kind not in "iuf" or not array.size:
        return array
    low, high = float(array.min()), float(array.max())
    if not -(2.0**31) <= low <= high < 2.0**31:  # NaN too
        return array
    # A signed type holds -n - 1 where it holds n.
    kind = np.min_scalar_type(min(int(low), -int(high) - 1) if low < 0 else int(high))
    if kind.itemsize >= array.dtype.itemsize:
        return array
    small = array.astype(kind)
    same = np.array_equal(small, array) and not (np.signbit(array) & (array == 0)).any()
    return small if same else array
