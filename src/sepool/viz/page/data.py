"""The data of the explorer page: levels of nodes, of edges and of names, decoded on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.tree import CodingTree
from sepool.viz.coarse_graph import EdgeList, coarse_edges
from sepool.viz.colours import cluster_fills, rgb
from sepool.viz.disk_layout import layout
from sepool.viz.page.attribute import NodeClasses
from sepool.viz.page.blocks import Blocks

if TYPE_CHECKING:
    from sepool.depth.significance import Significance


@dataclass(frozen=True)
class PageContent:
    """Contents of a page.

    Attributes:
        tree: a coding tree of the graph.
        graph: the graph.
        title: of the page.
        classes: that colour the nodes, where they have an attribute.
        significance: of the clusters, where it has been computed.
    """

    tree: CodingTree
    graph: Graph
    title: str
    classes: NodeClasses | None = None
    significance: Significance | None = None

    def header(self) -> dict[str, Any]:
        """Return the parts of the page that every view needs."""
        classes = self.classes
        return {
            "title": self.title,
            "counts": list(self.tree.counts),
            "edges": self.graph.num_edges,
            "named": self.tree.names is not None,
            "significance": self.significance is not None,
            "classes": None
            if classes is None
            else {
                "names": classes.names,
                "colours": classes.colours,
                "sizes": np.bincount(classes.index, minlength=len(classes.names)).tolist(),
            },
        }

    def blocks(self) -> Blocks:
        """Return the arrays of all levels; the graph's nodes are level 0."""
        tree, blocks = self.tree, Blocks()
        edges, disks = coarse_edges(tree, self.graph), layout(tree, self.graph)
        fills = cluster_fills(tree, edges)
        below, tests = np.zeros(tree.num_nodes), self._tests()
        for level in range(tree.height + 1):
            for name, values in (
                ("x", disks.centre[level].real),
                ("y", disks.centre[level].imag),
                ("r", disks.radius[level]),
            ):
                blocks.add(f"{name}-{level}", values, "f4")
            blocks.add(f"volume-{level}", tree.volumes(level), "f8")
            blocks.add(f"boundary-{level}", tree.boundaries(level), "f8")
            if level > 0:
                parent = tree.assignment(level)
                blocks.add(f"parent-{level - 1}", parent, "i4")
                below = group_sums(parent, below + tree.contributions(level - 1))
                blocks.add(f"below-{level}", below, "f8")
                blocks.add(f"size-{level}", tree.cluster_sizes(level), "i4")
            if 0 < level < tree.height:
                blocks.add(f"fill-{level}", rgb(fills[level - 1]), "u1")
                blocks.add_json(f"names-{level}", tree.cluster_names(level))
            if level < tree.height:
                _add_edges(blocks, level, edges[level], tree.num_clusters(level))
            self._add_classes(blocks, level)
            for name, columns in tests.items():
                blocks.add(f"{name}-{level}", columns[level], "u1" if name == "verdict" else "f4")
        if tree.names is not None:
            blocks.add_json("names-0", list(map(str, tree.names)))
        return blocks

    def _add_classes(self, blocks: Blocks, level: int) -> None:
        if self.classes is not None and level < self.tree.height:
            majority, share = self.classes.majorities(self.tree, level)
            blocks.add(f"class-{level}", majority, "u1")
            if level > 0:
                blocks.add(f"share-{level}", share, "f4")

    def _tests(self) -> dict[str, list[NDArray[np.float64]]]:
        """Return bits beyond chance, their errors and verdicts of all levels.

        Verdicts are 0 for clusters untested, 2 for significant ones. A chain of only children has
        the test of its last cluster.
        """
        if self.significance is None:
            return {}
        tested = self.significance
        values: dict[str, NDArray[Any]] = {
            "excess": tested.bits - tested.chance,
            "error": tested.error,
            "verdict": 1.0 + tested.significant,
        }
        columns: dict[str, list[NDArray[np.float64]]] = {name: [] for name in values}
        for level, count in enumerate(self.tree.counts):
            rows = tested.level == level
            for name, column in values.items():
                out = np.zeros(count)
                if level > 0:
                    parent = self.tree.assignment(level)
                    only = np.bincount(parent)[parent] == 1
                    out[parent[only]] = columns[name][-1][only]
                out[tested.cluster[rows]] = column[rows]
                columns[name].append(out)
        return columns


def group_sums(group: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the values of every group.

    Example:
        >>> group_sums(np.array([0, 0, 1]), np.array([1.0, 2.0, 4.0]))
        array([3., 4.])
    """
    return np.bincount(group, values).astype(np.float64)


def _add_edges(blocks: Blocks, level: int, edges: EdgeList, count: int) -> None:
    """Add the edges of a level by rows: the number of each lower end, the upper ends, weights."""
    order: NDArray[Any] = np.lexsort((edges.v, edges.u))
    blocks.add(f"row-{level}", np.bincount(edges.u, minlength=count), "u4")
    blocks.add(f"end-{level}", edges.v[order], "u4")
    if len(order) and not (edges.weight == 1).all():
        blocks.add(f"weight-{level}", edges.weight[order], "f4")
