"""Edge lists in text files, plain or gzipped."""

from __future__ import annotations

import io
import os
import threading
import warnings
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import BinaryIO

import numpy as np

from sepool.files.atomic import StrPath
from sepool.files.limits import LINE, BeyondLimit, limit, line_blocks, lines
from sepool.graph.edges import Edges
from sepool.graph.formats.edge_line import parse_line, refuse_format, refuse_header
from sepool.graph.formats.opening import open_stream
from sepool.graph.ids import is_whole, name_nodes, rank_ids

_NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
_FILTERS = threading.Lock()
_STARTS = np.zeros(256, np.bool_)  # bytes before a field
_STARTS[: ord(" ") + 1] = True
_STARTS[[ord(sign) for sign in ',;"']] = True


def read_edge_list(path: StrPath) -> Edges:
    r"""Read an undirected graph from a text file, plain or gzipped.

    A line is ``u v`` or ``u v weight``, separated by blanks, tabs or commas; ``u`` alone is a node
    without an edge. A line is one undirected edge, and repeated edges add up. Lines that start with
    ``#`` or ``%`` are comments. Nodes may have any name, with blanks where tabs or commas separate,
    and in quotation marks, as in ``"Washington, D.C.",Paris``. If all names are whole numbers of 64
    bits, the nodes are called by these integers and ordered by them, otherwise by strings in the
    order of first appearance. Numbers with leading zeros, such as ``01001``, are names. A first
    line of column names is refused, and so are files of other formats.

    Args:
        path: the file, or "-" for standard input.

    Raises:
        ValueError: a line is malformed (the message has its number), or the file is no edge list.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "graph.txt")
        ...     _ = path.write_text("# two friends and a third person\nann bob 2.5\ncleo\n")
        ...     read_edge_list(path).names
        ('ann', 'bob', 'cleo')
    """
    edges = _read_numbers(path) if os.path.isfile(path) else None  # a pipe is read only once
    if edges is not None:
        return edges
    with open_stream(path) as file:
        return read_lines(path, file)


def _read_numbers(path: StrPath) -> Edges | None:
    """Read whole-number ids below a header of comments with NumPy; return None for other files."""
    with open_stream(path) as file:
        longest = limit(LINE)
        head = file.readline(longest)
        if head.startswith(b"%%"):
            return None  # of another format, perhaps
        while head and (not head.strip() or head.lstrip()[:1] in b"#%"):
            head = file.readline(longest)
        comma = "," if b"," in head else None
        columns = len(head.decode("latin1").split(comma))  # beyond ASCII it does not count
        if columns not in (2, 3) or _is_odd(head):
            return None
        dtype = np.dtype([("u", "i8"), ("v", "i8"), ("w", "f8")][:columns])
        try:
            with _whole_numbers_only():
                text = chain([head], _plain_lines(file))
                table = np.loadtxt(text, dtype, comments=None, delimiter=comma, ndmin=1)
        except BeyondLimit:
            raise
        except ValueError:
            return None  # `read_lines` finds the line
    w = np.ascontiguousarray(table["w"]) if columns == 3 else None
    if w is not None and not (np.isfinite(w) & (w >= 0)).all():
        return None
    (u, v), n, names = rank_ids(*(np.ascontiguousarray(table[end]) for end in "uv"))
    return Edges(u, v, w, n, names=names)


def _plain_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; fail on leading zeros or plus signs, and beyond ASCII."""
    for block in line_blocks(file):
        if _is_odd(block):
            raise ValueError("numbers that may be names, or signs that NumPy may take for blanks")
        yield from io.BytesIO(block)


def _is_odd(text: bytes) -> bool:
    """Return True for signs beyond ASCII: as Latin-1, NumPy takes 0x85 and 0xA0 for blanks."""
    return not text.isascii() or is_padded(text)


def is_padded(text: bytes) -> bool:
    """Return True if a number begins with a plus, or with a zero or minus zero before a digit."""
    signs = np.frombuffer(b"\n" + text.replace(b"-0", b"00") + b"\n", np.uint8)
    starts = _STARTS[signs[:-2]]
    digits = (signs[2:] >= ord("0")) & (signs[2:] <= ord("9"))
    return bool((starts & ((signs[1:-1] == ord("+")) | (signs[1:-1] == ord("0")) & digits)).any())


@contextmanager
def _whole_numbers_only() -> Iterator[None]:
    """Let NumPy refuse 1.5 as a whole number; before 2.4 it is read as 1, with a warning.

    Filters of warnings are shared by all threads, so newer versions leave them alone.
    """
    if _NUMPY >= (2, 4):
        yield
        return
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        yield


def read_lines(path: StrPath, file: BinaryIO) -> Edges:
    """Read any edge list line by line: names, single nodes, and errors with their line."""
    index: dict[str, int] = {}
    head = 0  # number of the first line with nodes
    ends, weights = array("q"), array("d")
    for number, line in enumerate(lines(file), 1):
        try:
            if number == 1:
                refuse_format(line)
            nodes, weight = parse_line(line, first=not index)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        ids = [index.setdefault(node, len(index)) for node in nodes]
        if len(ids) == 2:
            ends.extend(ids)
            weights.append(weight)
        if nodes and not head:
            head = number
    if not index:
        raise ValueError(f"{path}: no edges in this file; expected lines 'u v' or 'u v weight'")
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    words = tuple(index)
    alone = list(ends[:2]) == [0, 1] and weights[0] == 1 and not {0, 1} & set(ends[2:])
    if len(words) > 2 and alone and all(map(is_whole, words[2:])):
        try:
            refuse_header(words[:2], certain=True)
        except ValueError as error:
            raise ValueError(f"{path}:{head}: {error}") from None
    u, v, names = name_nodes(words, pairs[:, 0], pairs[:, 1], text=True)
    return Edges(u, v, np.array(weights), len(words), names=names)
