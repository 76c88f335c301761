"""Limits on what a file may unpack to, against files that would fill the memory.

``SEPOOL_MAX_UNPACKED_GB`` (4) limits the content of compressed files, archives and pipes,
``SEPOOL_MAX_LINE_MB`` (64) a line of text. The variables are read at every use.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import IO, Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile

UNPACKED, LINE = "SEPOOL_MAX_UNPACKED_GB", "SEPOOL_MAX_LINE_MB"
_DEFAULTS = {UNPACKED: 4.0, LINE: 64.0}
_UNITS = {UNPACKED: 10**9, LINE: 10**6}
_BLOCK = 1 << 20  # bytes


class BeyondLimit(ValueError):
    """Raised when a file unpacks to more than the limit."""


def limit(name: str) -> int:
    """Return a limit in bytes.

    Example:
        >>> limit(UNPACKED)
        4000000000
    """
    text = os.environ.get(name, "")
    try:
        number = float(text) if text else _DEFAULTS[name]
    except ValueError:
        number = 0.0
    if not 0 < number < 1e9:
        raise ValueError(f"the environment variable {name} must be a positive number, got {text!r}")
    return int(number * _UNITS[name])


def check_archive(file: IO[bytes]) -> None:
    """Fail if the compressed members of a zip archive are larger than the limit together."""
    with ZipFile(file) as archive:
        members = [member for member in archive.infolist() if member.compress_type != ZIP_STORED]
    size = sum(member.file_size for member in members)
    file.seek(0)
    if size > limit(UNPACKED):
        raise BeyondLimit(f"it {_beyond(UNPACKED, 'unpacks to')}")


def lines(stream: BinaryIO) -> Iterator[bytes]:
    r"""Yield the lines of a stream; fail on a line beyond the limit.

    Example:
        >>> list(lines(io.BytesIO(b"a\nb")))
        [b'a\n', b'b']
    """
    for block in line_blocks(stream):
        yield from io.BytesIO(block)


def line_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream in blocks of about a megabyte; fail on one beyond the limit."""
    longest = limit(LINE)
    while block := stream.read(_BLOCK):
        if not block.endswith(b"\n"):
            rest = stream.readline(longest)
            if len(rest) == longest and not rest.endswith(b"\n"):
                raise BeyondLimit(f"a line {_beyond(LINE, 'has')}")
            block += rest
        yield block


class Limited(io.RawIOBase):
    """A stream that fails beyond the limit."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._left = stream, limit(UNPACKED)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer and return the number of bytes."""
        piece = self._stream.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise BeyondLimit(f"the content {_beyond(UNPACKED, 'unpacks to')}")
        buffer[: len(piece)] = piece
        return len(piece)


def _beyond(name: str, verb: str) -> str:
    unit = name[-2:]
    return f"{verb} more than {limit(name) / _UNITS[name]:g} {unit}; set {name} to allow more"
