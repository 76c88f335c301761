"""Graph files as streams of bytes, plain, gzipped or compressed by Zstandard."""

from __future__ import annotations

import gzip
import io
import logging
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from sepool.extras import needs
from sepool.files.atomic import StrPath
from sepool.files.limits import Limited, lines

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
NO_UTF8 = "this is no text in UTF-8; save the file in UTF-8"
_HEAD = 1 << 16  # bytes that the detection of a format sees


class BadLine(ValueError):
    """Raised for a bad line; ``line`` counts from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def text_lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line; fail on other encodings than UTF-8."""
    for number, line in enumerate(lines(stream), 1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise BadLine(number, NO_UTF8) from None


@dataclass(frozen=True)
class GraphFile:
    """An open graph file.

    Attributes:
        path: the path, as in messages; "-" for standard input.
        stream: the content from its beginning, without compression.
        head: the first 64 kB of the content.
        plain: the content is that of a regular file, so that libraries may open the path.
    """

    path: str
    stream: BinaryIO
    head: bytes
    plain: bool

    def seekable(self) -> BinaryIO:
        """Return a stream that can go back; a compressed file or a pipe is read into memory."""
        return self.stream if self.plain else io.BytesIO(self.stream.read())

    @contextmanager
    def on_disk(self) -> Iterator[str]:
        """Return the path of a regular file with the content, for libraries that need one."""
        if self.plain:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="sepool-") as folder:
            unpacked = os.path.join(folder, "graph")
            with open(unpacked, "wb") as file:
                shutil.copyfileobj(self.stream, file)
            yield unpacked

    def note(self, text: str) -> None:
        """Log a decision of the reader, which the command line prints."""
        logging.getLogger("sepool").info("%s: %s", self.path, text)


@contextmanager
def open_graph(path: StrPath) -> Iterator[GraphFile]:
    """Open a graph file with its head, which is part of the stream, too."""
    name = os.fspath(path)
    with open_stream(path) as stream:
        head = stream.read(_HEAD)
        plain = name != "-" and os.path.isfile(path) and isinstance(stream, io.BufferedReader)
        plain = plain and isinstance(cast(io.BufferedReader, stream).raw, io.FileIO)
        if plain:
            stream.seek(0)
        else:
            stream = cast(BinaryIO, io.BufferedReader(_Resumed(head, stream), _HEAD))
        yield GraphFile(name, stream, head, plain)


@contextmanager
def open_stream(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file or standard input without its compression, which the first bytes decide."""
    if path == "-" and sys.stdin is None:
        raise ValueError("-: standard input is closed; name a file, or pipe one in")
    # Standard input is opened by its number, and stays open.
    with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
        magic = file.peek(4)[:4]
        try:
            if magic[:2] == _GZIP:
                yield _limited(cast(BinaryIO, gzip.GzipFile(fileobj=file)))
            elif magic == _ZSTD:
                yield _limited(_unzstd(file, os.fspath(path)))
            else:
                yield file if path != "-" and os.path.isfile(path) else _limited(file)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}: truncated or damaged gzip file ({error})") from None
        except OSError as error:
            if magic != _ZSTD or error.errno is not None:
                raise
            raise ValueError(f"{path}: truncated or damaged zstd file ({error})") from None


def _unzstd(file: BinaryIO, path: str) -> BinaryIO:
    with needs("io", f"reading {path}"):
        import pyarrow as pa
    return cast(BinaryIO, pa.CompressedInputStream(file, "zstd"))


def _limited(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(Limited(stream), _HEAD))


class _Resumed(io.RawIOBase):
    """A stream whose head has been read, from its beginning."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece: Any = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
