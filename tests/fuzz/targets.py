"""Targets of the fuzzer: every reader and loader, with the properties of what it returns.

A target takes the content of a file. It returns for a file that is read or refused by a
`ValueError`, and raises for anything else: another exception, or a result that is wrong.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

import sepool
from sepool.files.tree import TreeFields, read_tree, write_tree
from sepool.graph.edges import Edges
from sepool.graph.formats.edge_list import read_edge_list, read_lines
from sepool.graph.formats.opening import open_stream
from sepool.graph.formats.options import FileOptions
from sepool.graph.formats.read import read_file
from sepool.graph.graph import build_graph
from sepool.scores.formats.read import read_clustering

GRAPHS = {
    "edgelist": ".txt",
    "csv": ".csv",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "graphml": ".graphml",
    "gml": ".gml",
    "gexf": ".gexf",
    "pajek": ".net",
    "mtx": ".mtx",
    "npz": ".npz",
    "adjlist": ".adjlist",
}
CLUSTERS = ("table", "infomap-clu", "infomap-tree", "pajek", "labels", "communities", "auto")
CLUSTERED = [(0, 1), (1, 2), (2, 3), (3, 0)]
FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


class WrongResult(AssertionError):
    """Raised when a file is read, but not as it should be."""


def require(condition: object, text: str) -> None:
    """Fail with a text unless a condition holds."""
    if not condition:
        raise WrongResult(text)


def written(data: bytes, name: str) -> Path:
    """Return a file with this content."""
    path = Path(FOLDER.name, name)
    path.write_bytes(data)
    return path


def read_graph(data: bytes, name: str, format: str | None) -> None:
    """Read a graph; its volumes add up."""
    path = written(data, name)
    with suppress(ValueError):
        edges = read_file(path, FileOptions(format, symmetrise=True))
        graph = build_graph(edges, True)
        u, v, w = graph.edges()
        degrees = graph.degrees()
        require(graph.num_nodes == edges.num_nodes >= 1, "the number of nodes is another")
        require(len(u) == 0 or (u.min() >= 0 and v.max() < graph.num_nodes), "an end is no node")
        require(np.isfinite(w).all() and (w > 0).all(), "a weight is not positive")
        require(edges.names is None or len(set(edges.names)) == edges.num_nodes, "a name twice")
        loops = 0.0 if graph.loops is None else float(graph.loops.sum()) * graph.unit
        require(np.isclose(degrees.sum(), 2 * w.sum() + loops), "the volume is another")


def read_edges(data: bytes) -> None:
    """Read an edge list by both readers, which agree."""
    path = written(data, "edges.txt")
    results: list[Edges | str] = []
    for read in (read_edge_list, _read_line_by_line):
        try:
            results.append(read(path))
        except ValueError as error:
            results.append(str(error))
    one, other = results
    if isinstance(one, str) or isinstance(other, str):
        require(one == other, f"the readers differ: {one!r}, {other!r}")
        return
    # Integers are ordered by themselves, strings by their first appearance: the same by name.
    pairs = [_named(edges) for edges in (one, other)]
    require(pairs[0] == pairs[1], "the readers differ")


def _read_line_by_line(path: Path) -> Edges:
    with open_stream(path) as stream:
        return read_lines(path, stream)


def _named(edges: Edges) -> tuple[object, ...]:
    names = edges.names or range(edges.num_nodes)
    weights = np.ones(len(edges.u)) if edges.w is None else edges.w
    ends = ([names[i] for i in part] for part in (edges.u, edges.v))
    return (edges.num_nodes, sorted(map(str, names)), *ends, weights.tolist())


def read_clusters(data: bytes, format: str) -> None:
    """Read a clustering of a square; every node has a cluster on every level."""
    path = written(data, "clusters.txt")
    with suppress(ValueError):
        tree = read_clustering(path, CLUSTERED, format=format)
        require(tree.num_nodes == 4, "the number of nodes is another")
        bits = sepool.structural_entropy(CLUSTERED, tree)
        require(np.isclose(bits, tree.entropy, atol=1e-9), "the entropy is another")


def read_tree_file(data: bytes, suffix: str) -> None:
    """Read a tree; written again it is the same."""
    path = written(data, f"tree{suffix}")
    with suppress(ValueError):
        fields = read_tree(path)
        with suppress(ValueError):
            tree = sepool.CodingTree.load(path)
            require(np.isclose(tree.entropy, fields.entropy), "the entropy is another")
        write_tree(path, fields)
        again = read_tree(path)
        require(_same(fields, again), "a tree that is written again is another")


def _same(one: TreeFields, other: TreeFields) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True)) and (
        one[4:] == other[4:]
    )


def read_dataset(data: bytes) -> None:
    """Read a dataset of PyG graphs; every graph can be taken out."""
    path = written(data, "graphs.npz")
    with suppress(ValueError):
        graphs = sepool.load_graphs(path)
        require(len(list(graphs)) == len(graphs), "the number of graphs is another")


def read_cached_trees(data: bytes) -> None:
    """Read trees of a cache; they fit the graphs."""
    from sepool.files.archive import ArchiveError, read_archive
    from sepool.pyg.cache import FORMAT, VERSION, unpack_forest

    path, nodes = written(data, "trees.npz"), np.array([4, 3])
    with suppress(ArchiveError):
        trees = unpack_forest(read_archive(path, FORMAT, VERSION), nodes)
        require(np.array_equal(trees.counts[:, 0], nodes), "the trees are of other graphs")
        require((trees.parent >= 0).all(), "a parent is negative")


def targets() -> dict[str, Callable[[bytes], None]]:
    """Return all targets by name."""

    def graph(format: str, ending: str) -> Callable[[bytes], None]:
        return lambda data: read_graph(data, f"graph{ending}", format)

    def clusters(format: str) -> Callable[[bytes], None]:
        return lambda data: read_clusters(data, format)

    return {
        **{f"graph-{format}": graph(format, ending) for format, ending in GRAPHS.items()},
        "graph-content": lambda data: read_graph(data, "graph", None),
        "graph-gzip": lambda data: read_graph(data, "graph.txt.gz", None),
        "edges": read_edges,
        **{f"clusters-{format}": clusters(format) for format in CLUSTERS},
        "tree-json": lambda data: read_tree_file(data, ".json"),
        "tree-npz": lambda data: read_tree_file(data, ".npz"),
        "dataset": read_dataset,
        "cache": read_cached_trees,
    }
