"""Datasets of graphs as flat arrays: edges, labels, folds and trees, with a cache.

The cache (``<data>/sepool/*.npz``) replaces the original files and the compiled core: it can be
written on one machine and used on another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import Arrays, read_archive, write_archive
from sepool.pyg.cache import cached_trees
from sepool.pyg.edge_code import decode_edges, encode_edges
from sepool.pyg.features import blend_weights, cosine_similarity
from sepool.pyg.format import EdgeBlocks, Forest
from sepool.pyg.reading import Graphs
from sepool.segments import pointers
from sepool_experiments.data.tu import TUFiles, read_numbers

Ints = NDArray[np.int64]
FORMAT, VERSION = "sepool-graph-set", 1
_STDERR = Lock()  # two overlapping redirections would leave stderr redirected
BLEND = 0.5  # weight of the features in trees of weighted edges


@dataclass(frozen=True)
class GraphSet:
    """A dataset for graph classification.

    Attributes:
        name: name of the dataset.
        nodes: number of nodes of every graph.
        edges: edges in both directions, sorted by row.
        labels: label of every node, or None.
        y: class of every graph, from 0.
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
        pairs = np.column_stack([self.edges.row, self.edges.col])
        parts = np.split(pairs, pointers(self.edges.counts)[1:-1])
        return [part[part[:, 0] < part[:, 1]] for part in parts]


def load_graphs(root: Path, name: str) -> GraphSet:
    """Load a dataset from its cache, or from its files, and write the cache.

    A cache of other files than those in the folder is replaced.
    """
    path, files = root / "sepool" / f"{name}.npz", TUFiles(root / "TU" / name / "raw", name)
    cached = path.exists()
    if cached:
        arrays = read_archive(path, FORMAT, VERSION)
        if not files.exist() or _is_current(files, path, arrays):
            return _unpack(path, arrays)
    graphs = _read(files)
    arrays = {"nodes": graphs.nodes, "y": graphs.y, **encode_edges(graphs.nodes, graphs.edges)}
    arrays |= {"raw_stamp": np.array(files.stamp()), "raw_digest": np.array(files.digest())}
    if graphs.labels is not None:
        arrays["labels"] = graphs.labels
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError) if cached else nullcontext():  # an old cache may be read-only
        write_archive(path, FORMAT, VERSION, arrays)
    return graphs


def _is_current(files: TUFiles, path: Path, arrays: Arrays) -> bool:
    """Compare a cache with the files.

    Older caches have no digest of the files: their arrays are compared, except the edges.
    """
    if "raw_digest" in arrays:
        unchanged = str(arrays["raw_stamp"]) == files.stamp()
        return unchanged or str(arrays["raw_digest"]) == files.digest()
    if files.newest() > path.stat().st_mtime_ns or not arrays["plain"].all():
        return False
    return all(
        array is None if key not in arrays else np.array_equal(array, arrays[key])
        for key, array in files.read_nodes()._asdict().items()
    )


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
    edges weighted by the similarity of node features; "" has a root above all nodes.
    """
    if not tree:
        counts = np.column_stack([graphs.nodes, np.ones_like(graphs.nodes)])
        return Forest(counts, np.zeros(graphs.nodes.sum(), np.int32))
    flat = Graphs(graphs.nodes, graphs.edges, None)
    options = {"dataset": graphs.name, "tree": tree, "height": height}
    return cached_trees(
        root / "sepool", flat, options, lambda: _build_trees(root, graphs, tree, height)
    )


def _build_trees(root: Path, graphs: GraphSet, tree: str, height: int) -> Forest:
    if tree == "random":
        return shuffled(load_trees(root, graphs, "best", height))
    if tree == "released":
        from sepool.integrations.tgp import released_trees

        return Forest.of(released_trees(graphs.edge_arrays(), graphs.nodes, height))
    from sepool.build import coding_trees
    from sepool.graph.batch import as_graph_batch

    edges: list[Any] = graphs.edge_arrays()
    if tree == "features":
        tree, edges = "best", _weighted(graphs, edges)
    batch = as_graph_batch(edges, num_nodes=graphs.nodes.tolist())
    return Forest.of(coding_trees(batch, height, method=tree))


def _weighted(graphs: GraphSet, edges: list[NDArray[Any]]) -> list[Any]:
    """Add the weights of `sepool.pyg.features.cosine_weights` to edges."""
    parts = np.split(graphs.features(), pointers(graphs.nodes)[1:-1])
    return [
        (pairs, blend_weights(cosine_similarity(x, *pairs.T.astype(np.int64)), BLEND))
        for pairs, x in zip(edges, parts, strict=True)
    ]


def shuffled(forest: Forest) -> Forest:
    """Return the trees with the leaves of every graph permuted, with seed 0."""
    rng = np.random.default_rng(0)
    parent = forest.parent.copy()
    starts = pointers(forest.counts[:, :-1].sum(axis=1))
    for start, nodes in zip(starts, forest.counts[:, 0], strict=False):
        rng.shuffle(parent[start : start + nodes])
    return Forest(forest.counts, parent)


@contextmanager
def quiet(raw: Path) -> Iterator[None]:
    """Silence PyG unless it has to download the raw files."""
    with _STDERR, redirect_stderr(StringIO()) if raw.is_dir() else nullcontext():
        yield


def _read(files: TUFiles) -> GraphSet:
    """Read a dataset from its files, downloaded if they are missing."""
    if not files.exist():
        from torch_geometric.datasets import TUDataset

        TUDataset(str(files.folder.parents[1]), files.name)
    nodes, labels, y = files.read_nodes()
    return GraphSet(files.name, nodes, files.read_edges(nodes), labels, y)
