"""A graph laid out and coloured along its coding tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import as_graph
from sepool.tree import CodingTree
from sepool.viz.coarse_graph import EdgeList, coarse_edges
from sepool.viz.colours import level_fills
from sepool.viz.disk_layout import Layout, layout
from sepool.viz.drawing import Box, bounding_box, heading


@dataclass(frozen=True, eq=False)
class Scene:
    """Parts of a picture of a graph; lists have an entry a level, the graph's nodes first.

    Attributes:
        edges: the edges of every level below the root.
        disks: the layout.
        fills: the colours of the nodes of every level below the root.
        box: the extent of the picture.
        heading: the line above it.
    """

    edges: list[EdgeList]
    disks: Layout
    fills: list[NDArray[np.str_]]
    box: Box
    heading: str

    @classmethod
    def of(cls, tree: CodingTree, graph: Any, level: int | None, title: str | None) -> Scene:
        """Lay out and colour a graph; the level sets the colours."""
        graph = as_graph(graph)
        edges, disks = coarse_edges(tree, graph), layout(tree, graph)
        top = max(tree.height - 1, 0)
        return cls(
            edges,
            disks,
            level_fills(tree, edges, level),
            bounding_box(disks.centre[top], disks.radius[top]),
            heading(tree, title, graph.num_edges),
        )
