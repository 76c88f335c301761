"""Scores of several clusterings of one graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sepool.arguments import whole_number
from sepool.graph.graph import Graph, as_graph
from sepool.levels import Labels, check_graph
from sepool.scores.agreement import agreement
from sepool.scores.comparison import Comparison, Score
from sepool.scores.conductance import conductance
from sepool.scores.formats.read import read_cluster_file
from sepool.scores.map_equation import codelength
from sepool.scores.modularity import modularity
from sepool.segments import Ints
from sepool.tree import CodingTree

Clustering = CodingTree | Labels | os.PathLike[str] | str


def compare(
    graph: Any,
    clusterings: Mapping[str, Clustering],
    truth: Clustering | None = None,
    *,
    level: int | None = None,
) -> Comparison:
    """Return a table of scores, one row a clustering and level.

    Structural entropy, modularity, conductance and the codelength of the map equation, and the
    agreement with the truth (AMI, NMI; needs scikit-learn). `sepool.scores.comparison.Score` lists
    the columns. Edge weights count; directed graphs are refused as by `sepool.as_graph`.

    Args:
        graph: anything `sepool.as_graph` takes; call that first if it needs options.
        clusterings: by their names: a `sepool.CodingTree`, labels as
            `sepool.CodingTree.from_levels` takes them, or the path of a file (see
            `sepool.read_clustering`).
        truth: one more clustering, of one level.
        level: the only level to score, by default all.

    Raises:
        ValueError: a clustering does not fit the graph; the message has its name, or its file.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> result = compare(bridge, {"triangles": [0, 0, 0, 1, 1, 1], "one": [0] * 6})
        >>> round(result.rows[0].modularity, 4)
        0.3571
        >>> result.to_frame()[["clustering", "level", "clusters"]]
          clustering  level  clusters
        0  triangles      1         2
        1        one      1         1
    """
    if not isinstance(clusterings, Mapping):
        raise TypeError(
            "clusterings must be a dictionary from names to clusterings, got "
            f"{type(clusterings).__name__}"
        )
    if not clusterings:
        raise ValueError("clusterings is empty; expected one clustering or more")
    if level is not None:
        whole_number("level", level, 1)
    whole, notes = as_graph(graph), list[str]()
    labels = None if truth is None else _flat(_tree(whole, "truth", truth, notes))
    rows = []
    for name, clustering in clusterings.items():
        tree = _tree(whole, str(name), clustering, notes)
        rows += [_score(str(name), tree, i, labels) for i in _levels(str(name), tree, level)]
    return Comparison(tuple(rows), tuple(notes))


def _tree(graph: Graph, name: str, clustering: Any, notes: list[str]) -> CodingTree:
    """Return the coding tree of a clustering on this graph."""
    if isinstance(clustering, (str, os.PathLike)):
        file = read_cluster_file(clustering, graph)
        notes += file.notes
        return file.tree
    try:
        if isinstance(clustering, CodingTree):
            check_graph(clustering, graph)
            clustering = [clustering.labels(i) for i in range(1, clustering.height)]
        return CodingTree.from_levels(graph, clustering)
    except (TypeError, ValueError) as error:
        raise type(error)(f"clustering {name!r}: {error}") from None


def _flat(tree: CodingTree) -> Ints:
    """Return the labels of the truth, which has one level."""
    if tree.top > 1:
        raise ValueError(
            f"the truth has {tree.top} levels, expected one; choose it, as in tree.at(1)"
        )
    return tree.labels(1).astype("int64")


def _levels(name: str, tree: CodingTree, level: int | None) -> list[int]:
    """Return the levels to score; the root counts as one where a tree has no clusters."""
    levels = list(range(1, max(tree.top, 1) + 1))
    if level is None:
        return levels
    if level not in levels:
        number = "1 level" if len(levels) == 1 else f"{len(levels)} levels"
        raise ValueError(f"clustering {name!r} has {number}, got level {level}")
    return [level]


def _score(name: str, tree: CodingTree, level: int, truth: Ints | None) -> Score:
    flat = tree.at(level) if tree.top else tree
    result = None if truth is None else agreement(tree.labels(level), truth)
    return Score(
        clustering=name,
        level=level,
        clusters=tree.num_clusters(level),
        entropy=tree.entropy,
        flat_entropy=flat.entropy,
        modularity=modularity(tree, level),
        conductance=conductance(tree, level),
        codelength=codelength(tree),
        flat_codelength=codelength(flat),
        ami=None if result is None else result.ami,
        nmi=None if result is None else result.nmi,
    )
