"""Summaries of trees: sizes, entropy, and a line a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sepool.tree import CodingTree

LARGEST = 3  # clusters with names
WIDTH = 48  # of these names, so that a line fits 100 columns
HEADINGS = ("level", "clusters", "smallest", "median", "largest", "bits", "largest clusters")


@dataclass(frozen=True)
class LevelSummary:
    """The clusters of one level.

    Attributes:
        level: from 1, the finest.
        clusters: their number.
        smallest: number of nodes of the smallest cluster.
        median: of the numbers of nodes.
        largest: number of nodes of the largest cluster.
        bits: their share in the entropy; the nodes have the rest.
        names: of the largest clusters, by their nodes of the largest degree.
    """

    level: int
    clusters: int
    smallest: int
    median: float
    largest: int
    bits: float
    names: tuple[str, ...]

    def cells(self) -> tuple[str, ...]:
        """Return the texts below `HEADINGS`."""
        sizes = (self.level, self.clusters, self.smallest, self.median, self.largest)
        return (*(f"{x:,.10g}" for x in sizes), f"{self.bits:.4f}", _shortened(self.names, WIDTH))


@dataclass(frozen=True)
class TreeSummary:
    """Sizes, entropy and levels of a coding tree; ``print`` shows a table.

    Attributes:
        nodes: of the graph.
        edges: of the graph, None where the tree does not have it.
        height: of the tree.
        entropy: in bits.
        one_dimensional_entropy: that of the graph without clusters, in bits.
        levels: from the finest to the coarsest.
    """

    nodes: int
    edges: int | None
    height: int
    entropy: float
    one_dimensional_entropy: float
    levels: tuple[LevelSummary, ...]

    @property
    def size(self) -> str:
        """The numbers of nodes and edges as text."""
        edges = [] if self.edges is None else [counted(self.edges, "edge")]
        return ", ".join([counted(self.nodes, "node"), *edges])

    @property
    def saving(self) -> str:
        """The entropy, and the part that the clusters save, as text."""
        flat = self.one_dimensional_entropy
        if not flat:
            return f"entropy {self.entropy:.4f} bits"
        part = max(1 - self.entropy / flat, 0.0)  # below 0 by rounding alone
        return (
            f"entropy {self.entropy:.4f} bits, {part:.1%} less than without clusters ({flat:.4f})"
        )

    @property
    def table(self) -> str:
        """The levels as text, a line each below the headings."""
        if not self.levels:
            return "no clusters"
        lines = [HEADINGS, *(level.cells() for level in self.levels)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = (
            [cell.rjust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True)]
            for line in lines
        )
        return "\n".join(
            "  ".join([*cells, line[-1]]) for cells, line in zip(texts, lines, strict=True)
        )

    def __str__(self) -> str:
        return "\n".join([f"{self.size}, height {self.height}", self.saving, self.table])


def summary(tree: CodingTree) -> TreeSummary:
    """Return the summary of a tree."""
    degree, total = tree.volumes(0), tree.volume[-1]
    some = tree.boundaries(0) > 0
    bits = tree.boundaries(0)[some] / total * np.log2(total / degree[some])
    return TreeSummary(
        tree.num_nodes,
        None if tree.graph is None else tree.graph.num_edges,
        tree.height,
        tree.entropy,
        float(bits.sum()),
        tuple(_level(tree, level) for level in range(1, tree.height)),
    )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> counted(1, "node"), counted(1234, "edge")
    ('1 node', '1,234 edges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def single_line(text: str, max_length: int) -> str:
    r"""Return text on one line, shortened.

    >>> single_line("two\nlines", 99), single_line("a long name", 7)
    ('two lines', 'a long…')
    """
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= max_length else line[: max_length - 1].rstrip() + "…"


def _level(tree: CodingTree, level: int) -> LevelSummary:
    sizes = tree.cluster_sizes(level)
    names = tree.cluster_names(level, 2)
    largest = np.argsort(-sizes, kind="stable")[:LARGEST]
    return LevelSummary(
        level,
        len(sizes),
        int(sizes.min()),
        float(np.median(sizes)),
        int(sizes.max()),
        float(tree.contributions(level).sum()),
        tuple(names[i] for i in largest),
    )


def _shortened(names: tuple[str, ...], width: int) -> str:
    """Return names of clusters on one line, as many as fit and at least one."""
    names = tuple(single_line(name, width) for name in names)
    number = len(names)
    while number > 1 and len(" | ".join(names[:number])) > width:
        number -= 1
    return " | ".join(names[:number])
