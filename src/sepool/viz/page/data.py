"""The data of the explorer page: levels of nodes, of edges and of names, decoded on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.depth.significance import Significance
from sepool.graph.graph import Graph
from sepool.tree import CodingTree
from sepool.viz.coarse_graph import EdgeList, coarse_edges
from sepool.viz.colours import cluster_fills, rgb
from sepool.viz.disk_layout import layout
from sepool.viz.page.attribute import NodeClasses
from sepool.viz.page.blocks import Blocks


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
        below = np.zeros(tree.num_nodes)
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
                below = np.bincount(parent, below + tree.contributions(level - 1))
                blocks.add(f"below-{level}", below, "f8")
                blocks.add(f"size-{level}", tree.cluster_sizes(level), "i4")
            if 0 < level < tree.height:
                blocks.add(f"fill-{level}", rgb(fills[level - 1]), "u1")
                blocks.add_json(f"names-{level}", tree.cluster_names(level))
            if level < tree.height:
                _add_edges(blocks, level, edges[level], tree.num_clusters(level))
            self._add_classes(blocks, level)
            self._add_significance(blocks, level)
        if tree.names is not None:
            blocks.add_json("names-0", list(map(str, tree.names)))
        return blocks

    def _add_classes(self, blocks: Blocks, level: int) -> None:
        if self.classes is not None and level < self.tree.height:
            majority, share = self.classes.majorities(self.tree, level)
            blocks.add(f"class-{level}", majority, "u1")
            if level > 0:
                blocks.add(f"share-{level}", share, "f4")

    def _add_significance(self, blocks: Blocks, level: int) -> None:
        """Add bits beyond chance, their errors and verdicts; NaN and 0 for clusters untested."""
        if self.significance is None or level == 0:
            return
        rows = self.significance.level == level
        cluster = self.significance.cluster[rows]
        bits = self.significance.bits - self.significance.chance
        for name, values in (
            ("excess", bits),
            ("error", self.significance.error),
            ("verdict", 1.0 + self.significance.significant),
        ):
            column = np.full(self.tree.num_clusters(level), 0 if name == "verdict" else np.nan)
            column[cluster] = values[rows]
            blocks.add(f"{name}-{level}", column, "u1" if name == "verdict" else "f4")


def _add_edges(blocks: Blocks, level: int, edges: EdgeList, count: int) -> None:
    """Add the edges of a level by rows: the number of each lower end, the upper ends, weights."""
    order: NDArray[Any] = np.lexsort((edges.v, edges.u))
    blocks.add(f"row-{level}", np.bincount(edges.u, minlength=count), "u4")
    blocks.add(f"end-{level}", edges.v[order], "u4")
    if len(order) and not (edges.weight == 1).all():
        blocks.add(f"weight-{level}", edges.weight[order], "f4")
