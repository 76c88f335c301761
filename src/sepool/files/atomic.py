"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

StrPath = str | os.PathLike[str]


def check_output(path: StrPath) -> str:
    """Return the resolved path of an output file; fail if it cannot be written.

    Example:
        >>> check_output("/no/such/folder/tree.json")
        Traceback (most recent call last):
        FileNotFoundError: cannot write /no/such/folder/tree.json: no folder /no/such/folder
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write {os.fspath(path)}: no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"cannot write {os.fspath(path)}: the folder {folder} is not writable"
        )
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"cannot write {os.fspath(path)}: it exists and is not a regular file")
    return target


@contextmanager
def atomic_write(path: StrPath) -> Iterator[IO[bytes]]:
    """Open a file that appears whole when the block ends, and not at all when it fails."""
    target = check_output(path)
    draft = f"{target}.{os.urandom(4).hex()}.tmp"
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        if error.filename != draft:
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None  # not the draft's
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)
