"""Datasets of graphs as flat arrays: edges, labels, folds and trees, with a cache.

The cache (``<data>/sepool/*.npz``) replaces the original files and the compiled core: it can be
written on one machine and used on another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.build import coding_trees
from sepool.files.archive import Arrays, read_archive, write_archive
from sepool.graph.batch import as_graph_batch
from sepool.pyg.cache import cached_trees
from sepool.pyg.edge_code import decode_edges, encode_edges
from sepool.pyg.features import blend_weights, cosine_similarity
from sepool.pyg.format import EdgeBlocks, Forest
from sepool.pyg.reading import Graphs
from sepool.pyg.ties import Weights
from sepool.segments import pointers
from sepool_experiments.data.partitions import PARTITIONS, partition_trees
from sepool_experiments.data.tu import TUFiles, read_numbers

Ints = NDArray[np.int64]
FORMAT, VERSION = "sepool-graph-set", 1
BLEND = 0.5  # weight of the features in trees of weighted edges


@dataclass(frozen=True)
class GraphSet:
    """A dataset for graph classification: sizes, edges, labels of nodes and classes of graphs.

    Edges are in both directions, sorted by row.
    """

    name: str
    nodes: Ints
    edges: EdgeBlocks
    labels: Ints | None
    y: Ints

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    def features(self) -> NDArray[np.float32]:
        """Return one-hot node labels, if any, concatenated with one-hot degrees.

        There is a column for every label up to the highest, and for every degree that occurs.
        """
        start = np.repeat(pointers(self.nodes)[:-1], self.edges.counts)
        degree = np.bincount(self.edges.row + start, minlength=int(self.nodes.sum()))
        parts = [np.unique(degree, return_inverse=True)[1]]
        if self.labels is not None:
            parts.insert(0, self.labels)
        return np.concatenate([np.eye(part.max() + 1, dtype=np.float32)[part] for part in parts], 1)

    def edge_arrays(self) -> list[NDArray[Any]]:
        """Return every undirected edge once, one array a graph."""
        return _edge_arrays(self.edges, None)

    def weighted_edges(self) -> list[Any]:
        """Return `edge_arrays` with the weights of `sepool.pyg.features.cosine_weights`."""
        parts = np.split(self.features(), pointers(self.nodes)[1:-1])
        return [
            (pairs, blend_weights(cosine_similarity(x, *pairs.T.astype(np.int64)), BLEND))
            for pairs, x in zip(self.edge_arrays(), parts, strict=True)
        ]


def load_graphs(root: Path, name: str) -> GraphSet:
    """Load a dataset from its cache, or from its files, and write the cache.

    A cache of other files than those in the folder is replaced.
    """
    path, files = root / "sepool" / f"{name}.npz", TUFiles(root / "TU" / name / "raw", name)
    cached = path.exists()
    if cached:
        arrays = read_archive(path, FORMAT, VERSION)
        if not files.exist() or str(arrays.get("raw_digest")) == files.digest():
            return _unpack(path, arrays)
    elif not files.exist():
        from torch_geometric.datasets import TUDataset

        TUDataset(str(files.folder.parents[1]), name)
    nodes, labels, y = files.read_nodes()
    graphs = GraphSet(name, nodes, files.read_edges(nodes), labels, y)
    arrays = {"nodes": nodes, "y": y, **encode_edges(nodes, graphs.edges)}
    arrays["raw_digest"] = np.array(files.digest())
    if graphs.labels is not None:
        arrays["labels"] = graphs.labels
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError) if cached else nullcontext():  # an old cache may be read-only
        write_archive(path, FORMAT, VERSION, arrays)
    return graphs


def _unpack(path: Path, arrays: Arrays) -> GraphSet:
    if not arrays["plain"].all():
        raise ValueError(
            f"{path}: some edges have one direction only; delete it, and load files that list "
            "every edge in both"
        )
    nodes, y = (arrays[key].astype(np.int64) for key in ("nodes", "y"))
    labels = arrays["labels"].astype(np.int64) if "labels" in arrays else None
    counts, (row, col) = decode_edges(arrays, nodes)
    return GraphSet(path.stem, nodes, EdgeBlocks(counts, row, col), labels, y)


def load_folds(root: Path, graphs: GraphSet, folds: int = 10) -> list[Ints]:
    """Return the test graphs of each fold, from ``<data>/splits`` or by a stratified split."""
    folder = root / "splits" / graphs.name
    if folder.is_dir():
        return [read_numbers(folder / f"test_idx-{k}.txt").ravel() for k in range(1, folds + 1)]
    from sklearn.model_selection import StratifiedKFold

    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    return [test for _, test in split.split(graphs.y, graphs.y)]


def load_trees(root: Path, graphs: GraphSet, tree: str, height: int) -> Forest:
    """Load the trees of a dataset from the cache, or build them.

    "paper", "fast" and "best" are those of `sepool.coding_tree`; "random" permutes the leaves of
    the best trees; "released" is the code of torch-geometric-pool; "features" has the best trees of
    edges weighted by the similarity of node features; "metis", "louvain" and "infomap" are those of
    `partition_trees`; "" has a root above all nodes.
    """
    flat = Graphs(graphs.nodes, graphs.edges, None)
    weigh = graphs.weighted_edges if tree == "features" else None
    return cached_forest(root, graphs.name, flat, tree, height, weigh)


def cached_forest(
    root: Path,
    name: str,
    graphs: Graphs,
    tree: str,
    height: int,
    weigh: Callable[[], list[Any]] | None = None,
) -> Forest:
    """Load the trees of graphs from the cache, or build them, of the edges of ``weigh`` if given.

    Weights of ``graphs`` are part of the key of the cache, those of ``weigh`` are not.
    """
    if not tree:
        counts = np.column_stack([graphs.nodes, np.ones_like(graphs.nodes)])
        return Forest(counts, np.zeros(graphs.nodes.sum(), np.int32))

    def build() -> Forest:
        if tree == "random":
            return shuffled(cached_forest(root, name, graphs, "best", height))
        edges = weigh() if weigh else _edge_arrays(graphs.edges, graphs.tree_weight)
        if tree in PARTITIONS:
            best = cached_forest(root, name, graphs, "best", height)
            return partition_trees(tree, edges, graphs.nodes.tolist(), best)
        if tree == "released":
            from sepool.integrations.tgp import released_trees

            return Forest.of(released_trees(edges, graphs.nodes, height))
        batch = as_graph_batch(edges, num_nodes=graphs.nodes.tolist())
        return Forest.of(coding_trees(batch, height, method="best" if tree == "features" else tree))

    options = {"dataset": name, "tree": tree, "height": height}
    return cached_trees(root / "sepool", graphs, options, build)


def _edge_arrays(edges: EdgeBlocks, weight: Weights) -> list[Any]:
    """Return every undirected edge once, one array a graph, or with weights a pair of arrays."""
    ends = pointers(edges.counts)[1:-1]
    parts = np.split(np.column_stack([edges.row, edges.col]), ends)
    once = [part[:, 0] < part[:, 1] for part in parts]
    pairs = [part[mask] for part, mask in zip(parts, once, strict=True)]
    if weight is None:
        return pairs
    weights = zip(np.split(weight, ends), once, strict=True)
    return list(zip(pairs, (part[mask] for part, mask in weights), strict=True))


def shuffled(forest: Forest) -> Forest:
    """Return the trees with the leaves of every graph permuted, with seed 0."""
    rng = np.random.default_rng(0)
    parent = forest.parent.copy()
    starts = pointers(forest.counts[:, :-1].sum(axis=1))
    for start, nodes in zip(starts, forest.counts[:, 0], strict=False):
        rng.shuffle(parent[start : start + nodes])
    return Forest(forest.counts, parent)
