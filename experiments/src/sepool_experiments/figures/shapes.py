"""Graphs in the plane, with positions as node features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from sepool.build import coding_tree
from sepool.graph.graph import as_graph
from sepool.tree import CodingTree
from sepool_experiments.models.graphs.model import RATIO

HEIGHTS = range(2, 8)


@dataclass(frozen=True, eq=False)
class Shape:
    """A graph in the plane; ``edges`` has every edge once."""

    name: str
    points: NDArray[np.float32]
    edges: NDArray[np.int64]

    def data(self, labels: NDArray[np.integer] | None = None) -> Data:
        """Return a PyG ``Data`` with edges in both directions, sorted by row, and clusters."""
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        ordered = both[np.lexsort((both[:, 1], both[:, 0]))].T
        if labels is None:
            labels = np.zeros(len(self.points), np.int64)
        return Data(
            x=torch.from_numpy(self.points),
            edge_index=torch.from_numpy(ordered.copy()),
            labels=torch.from_numpy(labels.astype(np.int64)),
        )


def ring(nodes: int = 200) -> Shape:
    """Return a cycle on the unit circle."""
    angle = 2 * np.pi * np.arange(nodes) / nodes
    points = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    ids = np.arange(nodes)
    return Shape("ring", points, np.column_stack([ids, np.roll(ids, -1)]))


def grid(side: int = 30) -> Shape:
    """Return a square grid on the unit square."""
    ids = np.arange(side * side).reshape(side, side)
    x, y = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
    points = np.column_stack([x.ravel(), y.ravel()]).astype(np.float32)
    horizontal = np.column_stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()])
    vertical = np.column_stack([ids[:-1].ravel(), ids[1:].ravel()])
    return Shape("grid", points, np.concatenate([horizontal, vertical]))


SHAPES: dict[str, Callable[[], Shape]] = {"ring": ring, "grid": grid}


class Pick(NamedTuple):
    """A tree and the level to pool to."""

    tree: CodingTree
    level: int

    @property
    def clusters(self) -> int:
        """Number of clusters of the level."""
        return self.tree.num_clusters(self.level)


def pick_level(shape: Shape, tree: str = "best", ratio: float = RATIO) -> Pick:
    """Return the height and level whose share of clusters is closest to the ratio.

    Ties go to the lowest level, then to the lowest height. "random" is the best tree with permuted
    leaves.

    Example:
        >>> pick = pick_level(ring(200))
        >>> pick.tree.height, pick.level, pick.clusters
        (4, 2, 50)
    """
    graph = as_graph(shape.edges, num_nodes=len(shape.points))
    method = "best" if tree == "random" else tree
    candidates: list[tuple[float, int, int, CodingTree]] = []
    for height in HEIGHTS:
        built = coding_tree(graph, height, method=method)
        for level in range(1, height):
            share = built.num_clusters(level) / len(shape.points)
            candidates.append((abs(share - ratio), level, height, built))
    _, level, height, built = min(candidates, key=lambda candidate: candidate[:3])
    if tree == "random":
        order = np.random.default_rng(0).permutation(len(shape.points))
        labels = [built.labels(i)[order] for i in range(1, height)]
        built = CodingTree.from_levels(graph, labels)
    return Pick(built, level)
