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

import numpy as np
from numpy.typing import NDArray

from sepool.pyg.format import EdgeBlocks

Ints = NDArray[np.int64]
REQUIRED = ("A", "graph_indicator", "graph_labels")
LABELS = "node_labels"


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

    def digest(self) -> str:
        """Return a hash of names and contents of the files."""
        digest = hashlib.blake2b(digest_size=16)
        for path in map(self.path, (*REQUIRED, LABELS)):
            if path.exists():
                digest.update(f"{path.name} {path.stat().st_size}\n".encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def read_nodes(self) -> tuple[Ints, Ints | None, Ints]:
        """Return the sizes of the graphs, the labels of the nodes and the classes of the graphs."""
        owners, classes, path = map(self.path, ("graph_indicator", "graph_labels", LABELS))
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
        labels = read_numbers(path, ",")[:, 0] if path.exists() else None
        if labels is not None and len(labels) != len(owner):
            raise ValueError(f"{path} has {len(labels)} labels, {owners} {len(owner)} nodes")
        y = np.unique(values, return_inverse=True)[1]
        return nodes, None if labels is None else labels - labels.min(), y

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
        if (single := np.isin(col * total + row, keys, invert=True, kind="sort")).any():
            first, second = row[single.argmax()], col[single.argmax()]
            raise ValueError(
                f"{path}: edge {_edge(first, second)} of {self.name} is listed in one direction "
                f"only; add the reverse, {_edge(second, first)}"
            )
        counts = np.bincount(owner[row], minlength=len(nodes))
        start = np.repeat(np.cumsum(nodes) - nodes, counts)
        return EdgeBlocks(counts, row - start, col - start)


def read_numbers(path: Path, delimiter: str | None = None, columns: int | None = None) -> Ints:
    """Read the integers of a text file, one row a line; by default separated by whitespace."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # empty files
            numbers = np.loadtxt(path, np.int64, None, delimiter, ndmin=2, encoding="utf-8")
    except (ValueError, Warning) as error:
        raise ValueError(f"{path}: expected whole numbers: {error} (rows from 0)") from None
    if columns is not None and numbers.shape[1] != columns:
        raise ValueError(f"{path}: numbers a line: expected {columns}, got {numbers.shape[1]}")
    return numbers


def _edge(first: int, second: int) -> str:
    """An edge with the file's numbers of nodes, from 1."""
    return f"{first + 1}, {second + 1}"
