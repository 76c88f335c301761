"""Output files that appear whole or not at all.

A file is written as a draft in its folder, ``.sepool-<8 digits>.tmp``, and then renamed. A process
locks its drafts; the next write to the folder removes drafts without a lock, which killed processes
have left.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: drafts of killed processes stay
    fcntl = None  # type: ignore[assignment]

StrPath = str | os.PathLike[str]
_DRAFT = ".sepool-{}.tmp"
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


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
    if os.path.isdir(target):
        raise ValueError(
            f"cannot write {os.fspath(path)}: it is a folder, not a regular file; move it away or "
            "choose another name"
        )
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"cannot write {os.fspath(path)}: it exists and is not a regular file")
    _try(path, target)
    return target


@contextmanager
def atomic_write(path: StrPath) -> Iterator[IO[bytes]]:
    """Open a file that appears whole when the block ends, and not at all when it fails.

    A file that is replaced keeps its permissions, and its owner where the process may set it.
    """
    target = check_output(path)
    draft = _draft_in(os.path.dirname(target))
    _remove_drafts(os.path.dirname(target))
    lock = -1
    try:
        file, lock = _create(draft, target)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        if error.filename != draft and not (error.filename is None and error.errno in _FULL):
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None  # not the draft's
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        if lock >= 0:
            os.close(lock)


def _draft_in(folder: str) -> str:
    return os.path.join(folder, _DRAFT.format(os.urandom(4).hex()))


def _try(path: StrPath, target: str) -> None:
    """Fail if the system refuses the name, or a new file in its folder."""
    draft = _draft_in(os.path.dirname(target))
    try:
        with suppress(FileNotFoundError):
            os.stat(target)  # fails for a name that is too long
        os.close(os.open(draft, _NEW, 0o600))
        with suppress(FileNotFoundError):  # another process may remove it
            os.unlink(draft)
    except OSError as error:
        text = f"cannot write {os.fspath(path)}: {error.strerror}"
        if error.errno == errno.ENAMETOOLONG:
            raise ValueError(f"{text}; choose a shorter name") from None
        raise type(error)(text) from None


def _create(draft: str, target: str) -> tuple[IO[bytes], int]:
    """Create a draft with the permissions of its target; return it and the holder of its lock."""
    old = os.stat(target) if os.path.exists(target) else None
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    file = os.fdopen(os.open(draft, _NEW, mode), "wb")
    lock = _locked(file.fileno())
    if not os.path.exists(draft):  # removed by another process before the lock
        file.close()
        os.close(lock)
        return _create(draft, target)
    if old is not None and hasattr(os, "fchown"):
        with suppress(OSError):  # of another owner
            os.fchown(file.fileno(), old.st_uid, old.st_gid)
        with suppress(OSError):  # a file system without permissions
            os.fchmod(file.fileno(), mode)
    return file, lock


def _locked(descriptor: int) -> int:
    """Lock a file against `_remove_drafts`; return the descriptor that holds the lock, or -1."""
    if fcntl is None:
        return -1
    lock = os.dup(descriptor)  # outlives the file, until it is renamed
    with suppress(OSError):  # a file system without locks, where no draft is removed
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _remove_drafts(folder: str) -> None:
    """Remove the drafts of processes that were killed."""
    if fcntl is None:
        return
    for name in glob.glob(_DRAFT.format("?" * 8), root_dir=folder):
        draft = os.path.join(folder, name)
        with suppress(OSError):
            lock = os.open(draft, os.O_RDONLY | os.O_NONBLOCK)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
                os.unlink(draft)
            finally:
                os.close(lock)
