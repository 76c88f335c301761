"""Text on binary files, plain or gzipped."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


@contextmanager
def as_text(file: IO[bytes]) -> Iterator[IO[str]]:
    """Open UTF-8 text on a binary file, which stays open."""
    text = io.TextIOWrapper(file, "utf-8", newline="")
    yield text
    text.detach()  # flushes, and leaves the closing to the caller


@contextmanager
def compressed(file: IO[bytes], gzipped: bool) -> Iterator[IO[bytes]]:
    """Compress a file if asked for, without a time stamp: the same bytes for the same content."""
    if not gzipped:
        yield file
        return
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as inner:
        yield inner  # type: ignore[misc]
