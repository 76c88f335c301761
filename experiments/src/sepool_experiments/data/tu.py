"""Reader of the text files of a TU dataset, with errors that name file and line.

``<NAME>_A.txt`` has an edge a line, in both directions; nodes are numbered from 1 through all
graphs. ``_graph_indicator.txt`` has the graph of every node, from 1, ``_graph_labels.txt`` the
class of every graph, and the optional ``_node_labels.txt`` the label of every node.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.pyg.format import EdgeBlocks

Ints = NDArray[np.int64]
REQUIRED = ("A", "graph_indicator", "graph_labels")
LABELS = "node_labels"


class Nodes(NamedTuple):
    """A dataset without its edges: sizes and classes of graphs, labels of nodes."""

    nodes: Ints
    labels: Ints | None
    y: Ints


@dataclass(frozen=True)
class TUFiles:
    """The files of one dataset."""

    folder: Path
    name: str

    def path(self, part: str) -> Path:
        """Return the file of a part, such as "A"."""
        return self.folder / f"{self.name}_{part}.txt"

    def exist(self) -> bool:
        """Return True if all required files exist."""
        missing = [path for path in map(self.path, REQUIRED) if not path.exists()]
        if 0 < len(missing) < len(REQUIRED):
            raise ValueError(f"{missing[0]} is missing; copy it to the other files of {self.name}")
        return not missing

    def stamp(self) -> str:
        """Return names, sizes and times of the files, a cheap test for changes."""
        stats = ((path.name, path.stat()) for path in self._paths())
        return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)

    def digest(self) -> str:
        """Return a hash of names and contents of the files."""
        digest = hashlib.blake2b(digest_size=16)
        for path in self._paths():
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def newest(self) -> int:
        """Return the time of the last change, in nanoseconds."""
        return max(path.stat().st_mtime_ns for path in self._paths())

    def read_nodes(self) -> Nodes:
        """Read all files except the edges."""
        owners, classes = self.path("graph_indicator"), self.path("graph_labels")
        owner = read_numbers(owners, ",", 1)[:, 0]
        step = np.diff(owner, prepend=0)
        if (bad := np.flatnonzero((step < 0) | (step > 1) | (owner < 1))).size:
            raise ValueError(
                f"{owners}: node {bad[0] + 1} is in graph {owner[bad[0]]}; graphs must be numbered "
                "1, 2, 3, ..., and nodes sorted by them"
            )
        nodes = np.bincount(owner)[1:]
        values = read_numbers(classes, ",", 1)[:, 0]
        if len(values) != len(nodes):
            raise ValueError(f"{classes} has {len(values)} classes, {owners} {len(nodes)} graphs")
        y = np.unique(values, return_inverse=True)[1]
        return Nodes(nodes, self._read_labels(len(owner)), y)

    def read_edges(self, nodes: Ints) -> EdgeBlocks:
        """Read the edges of graphs of these sizes, sorted, without duplicates and self-loops."""
        path, total = self.path("A"), int(nodes.sum())
        pairs = read_numbers(path, ",", 2) - 1
        outside = ((pairs < 0) | (pairs >= total)).any(axis=1)
        if outside.any():
            edge = _edge(*pairs[outside.argmax()])
            raise ValueError(f"{path}: edge {edge}: nodes must be 1 to {total}")
        owner = np.repeat(np.arange(len(nodes)), nodes)
        row, col = pairs.T
        if (across := owner[row] != owner[col]).any():
            first = across.argmax()
            graphs = " and ".join(str(owner[end] + 1) for end in pairs[first])
            raise ValueError(
                f"{path}: edge {_edge(*pairs[first])} joins the graphs {graphs} of {self.name}; "
                "both ends must be in one graph"
            )
        keys = np.sort((row * total + col)[row != col])
        keys = keys[np.diff(keys, prepend=-1) != 0]  # np.unique hashes: a hundred times slower
        row, col = keys // total, keys % total
        self._check_both_ways(row, col, total)
        counts = np.bincount(owner[row], minlength=len(nodes))
        start = np.repeat(np.cumsum(nodes) - nodes, counts)
        return EdgeBlocks(counts, row - start, col - start)

    def _paths(self) -> list[Path]:
        paths = [self.path(part) for part in (*REQUIRED, LABELS)]
        return [path for path in paths if path.exists()]

    def _read_labels(self, count: int) -> Ints | None:
        path = self.path(LABELS)
        if not path.exists():
            return None
        labels: Ints = read_numbers(path, ",")[:, 0]
        if len(labels) != count:
            owners = self.path("graph_indicator")
            raise ValueError(f"{path} has {len(labels)} labels, {owners} {count} nodes")
        labels -= labels.min()
        return labels

    def _check_both_ways(self, row: Ints, col: Ints, total: int) -> None:
        forward, backward = row * total + col, col * total + row
        if np.array_equal(forward, np.sort(backward)):
            return
        first = np.isin(forward, backward, invert=True).argmax()
        edge, reverse = _edge(row[first], col[first]), _edge(col[first], row[first])
        raise ValueError(
            f"{self.path('A')}: edge {edge} of {self.name} is listed in one direction only; add "
            f"the reverse, {reverse}"
        )


def read_numbers(path: Path, delimiter: str | None = None, columns: int | None = None) -> Ints:
    """Read the integers of a text file, one row a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # empty files and fractions
            numbers = np.loadtxt(path, np.int64, None, delimiter, ndmin=2, encoding="utf-8")
    except (ValueError, Warning) as error:
        raise ValueError(_describe_error(path, delimiter, str(error))) from None
    if columns is not None and numbers.shape[1] != columns:
        raise ValueError(f"{path}: numbers a line: expected {columns}, got {numbers.shape[1]}")
    return numbers


def _describe_error(path: Path, delimiter: str | None, default: str) -> str:
    """Name the first line of a file that is not a list of integers."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    if not any(line.strip() for line in lines):
        return f"{path} is empty; expected a whole number a line"
    for number, line in enumerate(lines, start=1):
        for word in line.split(delimiter) if line.strip() else ():
            try:
                int(word)
            except ValueError:
                return f"{path}:{number}: expected a whole number, got {word.strip()[:40]!r}"
    return f"{path}: {default}"


def _edge(first: int, second: int) -> str:
    """An edge with the file's numbers of nodes, from 1."""
    return f"{first + 1}, {second + 1}"
