"""Datasets for node classification: one graph, features, the public split and trees.

As for graphs, the cache (``<data>/sepool/*.npz``) replaces the original files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import read_archive, write_archive
from sepool.pyg.edge_code import decode_edges, encode_edges
from sepool.pyg.features import (
    blend_weights,
    cosine_similarity,
    predicted_similarity,
    spread_similarity,
)
from sepool.pyg.format import EdgeBlocks, Forest, pack_blocks
from sepool.pyg.reading import Graphs
from sepool_experiments.data.graphs import BLEND, cached_forest
from sepool_experiments.protocols.units import Config

if TYPE_CHECKING:
    from torch_geometric.data import Data

Ints = NDArray[np.int64]
FORMAT, VERSION = "sepool-node-set", 1
SIMILARITIES = ("cosine", "predicted", "spread")


@dataclass(frozen=True)
class NodeSet:
    """A dataset for node classification; every row of features is divided by its sum."""

    name: str
    edges: EdgeBlocks
    x: NDArray[np.float32]
    y: Ints
    train: Ints
    val: Ints
    test: Ints

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.y)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1


@dataclass(frozen=True)
class TreeChoice:
    """A tree and the levels to pool to.

    Args:
        tree: as for `sepool_experiments.data.graphs.load_trees`, with ``blend`` and ``similarity``
            in place of "features".
        height: height of the tree.
        levels: ascending levels; () for all.
        blend: weight of the features in the weights of the edges, from 0 to 1.
        similarity: similarity of the ends of an edge: "cosine" of their features, "predicted" by a
            linear model of the training nodes, or "spread" predictions (see
            `sepool.pyg.features`).
    """

    tree: str
    height: int = 3
    levels: tuple[int, ...] = ()
    blend: float = 0.0
    similarity: str = "cosine"

    @classmethod
    def of(cls, tree: str, config: Config) -> TreeChoice:
        """Return the choice of a configuration; by default one level above its blocks (the paper).

        >>> TreeChoice.of("best", Config(blocks=2, extra=(("levels", "2,3"), ("height", 4))))
        TreeChoice(tree='best', height=4, levels=(2, 3), blend=0.0, similarity='cosine')
        """
        if not tree:
            return cls("")
        options: dict[str, Any] = dict(config.extra)
        levels = tuple(int(level) for level in str(options.get("levels", "")).split(",") if level)
        highest = max(levels, default=config.blocks)
        height = int(options.get("height", highest + 1))
        if levels and (len(levels) < config.blocks or levels != tuple(sorted(set(levels)))):
            raise ValueError(
                f"levels must be {config.blocks} or more ascending numbers (blocks), got {levels}"
            )
        if not 1 <= highest <= height:
            raise ValueError(f"levels must be 1 to {height} (height), got {levels or highest}")
        default = BLEND if tree == "features" else 0.0
        tree = "best" if tree == "features" else tree
        blend = float(options.get("blend", default))
        similarity = options.get("similarity", "cosine")
        if similarity not in SIMILARITIES:
            raise ValueError(
                f"similarity must be one of {', '.join(SIMILARITIES)}, got {similarity!r}"
            )
        return cls(tree, height, levels, blend, similarity)


def load_nodes(root: Path, name: str) -> NodeSet:
    """Load a dataset from its cache, or with PyG, and write the cache."""
    path = root / "sepool" / f"{name}.npz"
    if path.exists():
        return _unpack(name, read_archive(path, FORMAT, VERSION))
    nodes, arrays = _read_planetoid(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_archive(path, FORMAT, VERSION, arrays)
    return nodes


def load_tree(root: Path, nodes: NodeSet, choice: TreeChoice) -> Forest:
    """Load the tree of a dataset from the cache, or build it, with all levels."""
    weight = tree_weights(nodes, choice)
    if choice.tree == "released" and weight is not None:
        raise ValueError(f"blend must be 0 for released trees, got {choice.blend}")
    graphs = Graphs(np.array([nodes.num_nodes]), nodes.edges, weight)
    return cached_forest(root, nodes.name, graphs, choice.tree, choice.height)


def tree_weights(nodes: NodeSet, choice: TreeChoice) -> NDArray[np.float64] | None:
    """Return the edge weights of the tree; None for a blend of 0.

    Rounded, so that all processors agree on the weights, and with them on the cached tree.
    """
    if not choice.blend:
        return None
    row, col = (part.astype(np.int64) for part in (nodes.edges.row, nodes.edges.col))
    if choice.similarity == "cosine":
        similarity = cosine_similarity(nodes.x, row, col)
    else:
        learned = predicted_similarity if choice.similarity == "predicted" else spread_similarity
        similarity = learned(nodes.x, row, col, nodes.y, nodes.train)
    return np.round(blend_weights(similarity, choice.blend) * 1024) / 1024


def pick_levels(forest: Forest, levels: tuple[int, ...]) -> Forest:
    """Return the tree of one graph with some of its levels, besides leaves and root."""
    (counts,) = forest.counts
    parents = np.split(forest.parent, np.cumsum(counts[:-1])[:-1])
    chosen = [level for level in levels if level < forest.height] + [forest.height]
    parts, below = [], 0
    for level in chosen:
        above = parents[below]
        for between in range(below + 1, level):
            above = parents[between][above]
        parts.append(above)
        below = level
    return Forest(counts[[0, *chosen]][None], np.concatenate(parts))


def node_data(nodes: NodeSet, forest: Forest) -> Data:
    """Return the dataset as a PyG ``Data`` with its tree."""
    import torch
    from torch_geometric.data import Data

    pairs = np.stack([nodes.edges.row, nodes.edges.col]).astype(np.int64)
    blocks = pack_blocks(forest, nodes.edges)
    return Data(
        x=torch.from_numpy(nodes.x),
        edge_index=torch.from_numpy(pairs),
        y=torch.from_numpy(nodes.y),
        tree=torch.from_numpy(blocks.numbers),
    )


def _read_planetoid(root: Path, name: str) -> tuple[NodeSet, dict[str, Any]]:
    from torch_geometric.datasets import Planetoid

    data = Planetoid(str(root / "Planetoid"), name, split="public")[0]
    raw = data.x.numpy()
    row, col = data.edge_index.numpy()
    keys = np.unique((row * len(raw) + col)[row != col])
    edges = EdgeBlocks(np.array([len(keys)]), keys // len(raw), keys % len(raw))
    rows, columns = np.nonzero(raw)
    sets = {part: np.flatnonzero(data[f"{part}_mask"].numpy()) for part in ("train", "val", "test")}
    arrays = {
        "nodes": np.array([len(raw)]),
        "width": np.array([raw.shape[1]]),
        "counts": np.bincount(rows, minlength=len(raw)),
        "columns": columns,
        "values": raw[rows, columns],
        "y": data.y.numpy(),
        **sets,
        **encode_edges(np.array([len(raw)]), edges),
    }
    return _unpack(name, arrays), arrays


def _unpack(name: str, arrays: dict[str, NDArray[Any]]) -> NodeSet:
    size, width = int(arrays["nodes"][0]), int(arrays["width"][0])
    x = np.zeros((size, width), np.float32)
    rows = np.repeat(np.arange(size), arrays["counts"])
    x[rows, arrays["columns"]] = arrays["values"]
    total = x.sum(axis=1, keepdims=True)
    x /= np.where(total > 0, total, 1)
    counts, (row, col) = decode_edges(arrays, np.array([size]))
    y, train, val, test = (arrays[k].astype(np.int64) for k in ("y", "train", "val", "test"))
    return NodeSet(name, EdgeBlocks(counts, row, col), x, y, train, val, test)
