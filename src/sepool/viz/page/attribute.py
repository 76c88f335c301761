"""An attribute of the nodes as colours: classes with a legend, and their shares in clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.colours import GREY, PALETTE

MAX_CLASSES = len(PALETTE)
# Viridis in seven steps, for numbers of many values.
SCALE = ("#440154", "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725")


@dataclass(frozen=True)
class NodeClasses:
    """Classes of the nodes of a graph.

    Attributes:
        names: of the classes.
        colours: of the classes.
        index: the class of every node.
    """

    names: list[str]
    colours: list[str]
    index: NDArray[np.int64]

    def majorities(
        self, tree: CodingTree, level: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the most frequent class of every cluster of a level, and its share.

        Example:
            >>> tree = CodingTree.from_levels([(0, 1), (1, 2)], [0, 0, 0])
            >>> classes = node_classes(["a", "b", "a"], tree)
            >>> classes.majorities(tree, 1)
            (array([0]), array([0.66666667]))
        """
        count = len(self.names)
        pairs = tree.labels(level).astype(np.int64) * count + self.index
        keys, numbers = np.unique(pairs, return_counts=True)
        order = np.lexsort((-keys, numbers, keys // count))  # the largest last, ties to the first
        last = np.append(np.diff(keys[order] // count) > 0, True)
        best = order[last]
        return keys[best] % count, numbers[best] / tree.cluster_sizes(level)


def node_classes(values: Any, tree: CodingTree) -> NodeClasses:
    """Return the classes of the nodes by the values of an attribute.

    Args:
        values: a value a node, in the order of the nodes, or a dictionary from their names. Equal
            values are one class; numbers of more than 16 values are divided into 7 classes of
            equal sizes.
        tree: a coding tree of the graph.

    Raises:
        ValueError: a node has no value, or there is no such node.

    Example:
        >>> tree = CodingTree.from_levels([(0, 1), (1, 2)], [0, 0, 0])
        >>> node_classes({0: "red team", 1: "blue team", 2: "blue team"}, tree).names
        ['blue team', 'red team']
    """
    column = _column(values, tree)
    if len(set(column)) > MAX_CLASSES and _are_numbers(column):
        return _ranges(np.array(column, float))
    ordered = [value for value, _ in Counter(column).most_common()]  # ties: the first node's
    shown = ordered if len(ordered) <= MAX_CLASSES else ordered[: MAX_CLASSES - 1]
    number = {value: i for i, value in enumerate(shown)}
    index = np.array([number.get(value, len(shown)) for value in column], np.int64)
    names, colours = [str(value) for value in shown], list(PALETTE[: len(shown)])
    if len(shown) < len(ordered):
        names.append(f"{len(ordered) - len(shown):,} others")
        colours.append(GREY)
    return NodeClasses(names, colours, index)


def attribute_values(graph: Any, colour_by: Any) -> Any:
    """Return the values of an attribute of a networkx graph by its name, other values unchanged.

    Raises:
        ValueError: no node has the attribute, or the graph has no attributes.
    """
    if not isinstance(colour_by, str):
        return colour_by
    data = getattr(graph, "nodes", None)
    if data is None or not callable(getattr(data, "data", None)):
        raise ValueError(
            f"colour_by={colour_by!r} names an attribute, which nodes of networkx graphs have; "
            f"for {type(graph).__name__} give a value a node"
        )
    values = [value for _, value in data.data(colour_by)]
    if all(value is None for value in values):
        names = sorted({str(key) for _, attributes in data.data() for key in attributes})
        raise ValueError(f"no node has the attribute {colour_by!r}; attributes: {names}")
    return ["none" if value is None else value for value in values]


def _column(values: Any, tree: CodingTree) -> list[Any]:
    """Return a hashable value a node."""
    names = range(tree.num_nodes) if tree.names is None else tree.names
    if isinstance(values, Mapping):
        if missing := [name for name in names if name not in values]:
            raise ValueError(f"no label of node {missing[0]!r} ({len(missing):,} without one)")
        if surplus := set(values) - set(names):
            raise ValueError(f"a label of {min(map(repr, surplus))}, which is no node")
        values = [values[name] for name in names]
    column = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(column) != tree.num_nodes:
        raise ValueError(f"{len(column):,} labels for {tree.num_nodes:,} nodes; give one a node")
    for name, value in zip(names, column, strict=True):
        if not isinstance(value, str | int | float | bool | tuple | None):
            raise TypeError(f"the label of {name} must be text or a number, got {value!r}")
    return column


def _are_numbers(column: list[Any]) -> bool:
    return all(isinstance(value, int | float) for value in column) and bool(
        np.isfinite(np.array(column, float)).all()
    )


def _ranges(numbers: NDArray[np.float64]) -> NodeClasses:
    """Return classes of equal numbers of nodes along a scale."""
    shares = np.linspace(0, 1, len(SCALE) + 1)
    bounds = np.unique(np.quantile(numbers, shares))
    index = np.clip(np.searchsorted(bounds, numbers, "right") - 1, 0, max(len(bounds) - 2, 0))
    names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(bounds.tolist())]
    picks = np.round(np.linspace(0, len(SCALE) - 1, max(len(names), 1))).astype(int)
    return NodeClasses(names, [SCALE[i] for i in picks], index.astype(np.int64))
