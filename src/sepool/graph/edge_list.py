"""Edge lists in text files, plain or gzipped."""

from __future__ import annotations

import gzip
import io
import os
import threading
import warnings
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from sepool.files.atomic import StrPath
from sepool.graph.edge_line import is_whole, parse_line, refuse_format, refuse_header
from sepool.graph.edges import Edges, Names

_NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
_FILTERS = threading.Lock()


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
    return edges or _read_lines(path)


def _read_numbers(path: StrPath) -> Edges | None:
    """Read whole-number ids below a header of comments with NumPy; return None for other files."""
    with _open(path) as file:
        head = file.readline()
        if head.startswith(b"%%"):
            return None  # of another format, perhaps
        while head and (not head.strip() or head.lstrip()[:1] in b"#%"):
            head = file.readline()
        comma = "," if b"," in head else None
        columns = len(head.decode("latin1").split(comma))
        if columns not in (2, 3) or _is_padded(head):
            return None
        dtype = np.dtype([("u", "i8"), ("v", "i8"), ("w", "f8")][:columns])
        try:
            with _whole_numbers_only():
                lines = chain([head], _unpadded(file))
                table = np.loadtxt(lines, dtype, comments=None, delimiter=comma, ndmin=1)
        except ValueError:
            return None  # `_read_lines` finds the line
    w = np.ascontiguousarray(table["w"]) if columns == 3 else None
    if w is not None and not (np.isfinite(w) & (w >= 0)).all():
        return None
    rank, names = rank_ids(np.concatenate([table["u"], table["v"]]))
    return Edges(rank[: len(table)], rank[len(table) :], w, int(rank.max()) + 1, names=names)


def _unpadded(file: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file; fail on numbers with leading zeros or plus signs."""
    lines = iter(file)
    while block := list(islice(lines, 10_000)):
        if _is_padded(b"".join(block)):
            raise ValueError("numbers that may be names")
        yield from block


def _is_padded(text: bytes) -> bool:
    """Return True if a number begins with a plus, or with a zero or minus zero before a digit."""
    signs = np.frombuffer(b"\n" + text.replace(b"-0", b"00") + b"\n", np.uint8)
    starts = (signs[:-2] <= ord(" ")) | (signs[:-2] == ord(","))
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


def _read_lines(path: StrPath) -> Edges:
    """Read any file line by line: names, single nodes, and errors with their line."""
    index: dict[str, int] = {}
    head = 0  # number of the first line with nodes
    ends, weights = array("q"), array("d")
    with _open(path) as file:
        for number, line in enumerate(file, 1):
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
    names: Names | None = words
    if all(map(is_whole, words)):
        rank, names = rank_ids(np.array([int(word) for word in words]))
        pairs = rank[pairs]
    return Edges(pairs[:, 0], pairs[:, 1], np.array(weights), len(words), names=names)


def rank_ids(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], Names | None]:
    """Return the rank of every id and the ids in order, None in place of 0, 1, 2, ..."""
    if ids.min() >= 0 and ids.max() <= 4 * len(ids):  # dense: a table is faster than sorting
        occurs = np.zeros(int(ids.max()) + 1, np.bool_)
        occurs[ids] = True
        values = np.flatnonzero(occurs)
        rank = (np.cumsum(occurs) - 1)[ids]
    else:
        values, rank = np.unique(ids, return_inverse=True)
    plain = values[0] == 0 and values[-1] == len(values) - 1
    return rank, None if plain else tuple(values.tolist())


@contextmanager
def _open(path: StrPath) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    # Standard input is opened by its number, and stays open.
    with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
        try:
            is_gzip = file.peek(2)[:2] == b"\x1f\x8b"
            yield gzip.GzipFile(fileobj=file) if is_gzip else file
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}: truncated or damaged gzip file ({error})") from None
