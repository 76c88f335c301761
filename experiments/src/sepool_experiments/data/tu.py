"""The text files of a TU dataset: what is in them, where they are wrong, whether they have changed.

``<NAME>_A.txt`` has an edge a line, in both directions, by numbers of nodes that count from 1
through all graphs; ``_graph_indicator.txt`` has the graph of every node, from 1,
``_graph_labels.txt`` the class of every graph, and ``_node_labels.txt``, where it is there, the
label of every node.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sepool.pyg.format import EdgeBlocks

Ints = NDArray[np.int64]
NEEDED = ("A", "graph_indicator", "graph_labels")
LABELS = "node_labels"


class Nodes(NamedTuple):
    """All of a dataset but its edges: sizes and classes of graphs, and labels of nodes."""

    nodes: Ints
    labels: Ints | None
    y: Ints


@dataclass(frozen=True)
class TUFiles:
    """The files of one dataset.

    Args:
        folder: where they are.
        name: of the dataset, with which their names begin.
    """

    folder: Path
    name: str

    def path(self, part: str) -> Path:
        """The file of a part, such as "A"."""
        return self.folder / f"{self.name}_{part}.txt"

    def exist(self) -> bool:
        """Whether the files are there.

        Raises:
            ValueError: only some of them are.
        """
        missing = [path for path in map(self.path, NEEDED) if not path.exists()]
        if 0 < len(missing) < len(NEEDED):
            raise ValueError(
                f"{missing[0]} is missing; put it beside the other files of {self.name}"
            )
        return not missing

    def stamp(self) -> str:
        """Names, sizes and times of the files: a quick look at whether they are as before."""
        found = ((path.name, path.stat()) for path in self._paths())
        return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in found)

    def digest(self) -> str:
        """A name for what is in the files, which copies of them share."""
        found = hashlib.blake2b(digest_size=16)
        for path in self._paths():
            found.update(f"{path.name} {path.stat().st_size}\n".encode())
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    found.update(block)
        return found.hexdigest()

    def newest(self) -> int:
        """When the last of the files was written, in nanoseconds."""
        return max(path.stat().st_mtime_ns for path in self._paths())

    def read_nodes(self) -> Nodes:
        """Reads all files but that of the edges.

        Raises:
            ValueError: a file is wrong; it is named.
        """
        owners, classes = self.path("graph_indicator"), self.path("graph_labels")
        owner = read_numbers(owners, ",", 1)[:, 0]
        step = np.diff(owner, prepend=0)
        if (bad := np.flatnonzero((step < 0) | (step > 1) | (owner < 1))).size:
            raise ValueError(
                f"{owners}: node {bad[0] + 1} is in graph {owner[bad[0]]}; graphs must be numbered "
                "1, 2, 3, ..., and nodes sorted by them"
            )
        nodes = np.bincount(owner)[1:]
        known = read_numbers(classes, ",", 1)[:, 0]
        if len(known) != len(nodes):
            raise ValueError(f"{classes} has {len(known)} classes, {owners} {len(nodes)} graphs")
        return Nodes(nodes, self._read_labels(len(owner)), np.unique(known, return_inverse=True)[1])

    def read_edges(self, nodes: Ints) -> EdgeBlocks:
        """Reads the edges of graphs of these sizes: in order, each once, and without loops.

        Raises:
            ValueError: an edge leaves its graph, or is there in one direction only.
        """
        from sepool.pyg.format import EdgeBlocks  # needs torch, which the command line does not

        path, total = self.path("A"), int(nodes.sum())
        pairs = read_numbers(path, ",", 2) - 1
        outside = ((pairs < 0) | (pairs >= total)).any(axis=1)
        if outside.any():
            edge = _edge(*pairs[outside.argmax()])
            raise ValueError(f"{path}: the edge {edge} has no such node; they are 1 to {total}")
        owner = np.repeat(np.arange(len(nodes)), nodes)
        row, col = pairs.T
        if (across := owner[row] != owner[col]).any():
            which = across.argmax()
            graphs = " and ".join(str(owner[end] + 1) for end in pairs[which])
            raise ValueError(
                f"{path}: the edge {_edge(*pairs[which])} leaves its graph: its ends are in the "
                f"graphs {graphs} of {self.name}"
            )
        keys = np.sort((row * total + col)[row != col])
        keys = keys[np.diff(keys, prepend=-1) != 0]  # np.unique is a hundred times slower here
        row, col = keys // total, keys % total
        self._check_both_ways(row, col, total)
        counts = np.bincount(owner[row], minlength=len(nodes))
        start = np.repeat(np.cumsum(nodes) - nodes, counts)
        return EdgeBlocks(counts, row - start, col - start)

    def _paths(self) -> list[Path]:
        paths = [self.path(part) for part in (*NEEDED, LABELS)]
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
        there, back = row * total + col, col * total + row
        if np.array_equal(there, np.sort(back)):
            return
        which = np.isin(there, back, invert=True).argmax()
        edge, other = _edge(row[which], col[which]), _edge(col[which], row[which])
        raise ValueError(
            f"{self.path('A')}: the edge {edge} of {self.name} is there in one direction only; "
            f"every edge needs both, here also {other}"
        )


def read_numbers(path: Path, between: str | None = None, columns: int | None = None) -> Ints:
    """The whole numbers of a text file, a row a line.

    Args:
        path: the file.
        between: what is between two numbers of a line; blanks by default.
        columns: how many a line has; any number, but the same in all, by default.

    Raises:
        ValueError: there is something else in the file, or nothing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an empty file, a fraction
            found = np.loadtxt(path, np.int64, None, between, ndmin=2, encoding="utf-8")
    except (ValueError, Warning) as error:
        raise ValueError(_complaint(path, between, str(error))) from None
    if columns is not None and found.shape[1] != columns:
        raise ValueError(f"{path}: numbers a line: expected {columns}, got {found.shape[1]}")
    return found


def _complaint(path: Path, between: str | None, otherwise: str) -> str:
    """What is wrong with a file of numbers, and where."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    if not any(line.strip() for line in lines):
        return f"{path} is empty; expected a whole number a line"
    for place, line in enumerate(lines, start=1):
        for word in line.split(between) if line.strip() else ():
            try:
                int(word)
            except ValueError:
                return f"{path}:{place}: expected a whole number, got {word.strip()[:40]!r}"
    return f"{path}: {otherwise}"


def _edge(first: int, second: int) -> str:
    """An edge as the file has it."""
    return f"{first + 1}, {second + 1}"
