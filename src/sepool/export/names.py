"""Names of nodes as text, and checks that a format can hold them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sepool.levels import names_of

if TYPE_CHECKING:
    from sepool.tree import CodingTree

_SURROGATE = "[\\ud800-\\udfff]"  # of no text in UTF-8


def text_names(
    tree: CodingTree, what: str, forbidden: str | None = None, *, unique: bool = False
) -> list[str]:
    """Return the names of the nodes as text; fail on those that a format cannot hold.

    Args:
        tree: of the nodes.
        what: the format, for the error.
        forbidden: a regular expression for characters that the format cannot hold.
        unique: refuse two nodes of one text.

    Example:
        >>> from sepool import CodingTree
        >>> tree = CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1])
        >>> text_names(tree, "a .tree file")
        ['0', '1', '2', '3']
    """
    names = list(map(str, names_of(tree)))
    pattern = re.compile(f"{_SURROGATE}|{forbidden}" if forbidden else _SURROGATE)
    for name in names:
        if match := pattern.search(name):
            raise ValueError(
                f"{what} cannot hold {match[0]!r}, which is in the name of the node {name!r}; "
                "write another format, or dataclasses.replace(tree, names=...)"
            )
    if unique and len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(
            f"{what} needs different names, and several nodes are {twice!r}; write another format, "
            "or dataclasses.replace(tree, names=...)"
        )
    return names


def node_ids(tree: CodingTree) -> Sequence[int]:
    """Return whole numbers for the nodes: their names if these are, their places otherwise.

    Names are taken if all are different whole numbers from 0, also as text.

    Example:
        >>> import networkx as nx
        >>> from sepool import CodingTree
        >>> list(node_ids(CodingTree.from_levels(nx.Graph([(7, 8), (8, 9)]), [0, 0, 0])))
        [7, 8, 9]
        >>> list(node_ids(CodingTree.from_levels(nx.Graph(["ab", "bc"]), [0, 0, 0])))
        [0, 1, 2]
    """
    names = names_of(tree)
    if isinstance(names, range):
        return names
    ids = [_whole(name) for name in names]
    numbers = [i for i in ids if i is not None]
    return numbers if len(set(numbers)) == len(names) else range(tree.num_nodes)


def _whole(name: Hashable) -> int | None:
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        return int(name) if 0 <= name < 2**32 else None
    if isinstance(name, str) and re.fullmatch(r"0|[1-9][0-9]{0,8}", name):
        return int(name)
    return None
