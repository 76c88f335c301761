"""Newick trees, the format of phylogenetics."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import IO, TYPE_CHECKING

import numpy as np

from sepool.export.names import text_names
from sepool.export.streams import as_text

if TYPE_CHECKING:
    from sepool.tree import CodingTree

_PLAIN = re.compile(r"[A-Za-z0-9.+*/|-]+")  # an unquoted underscore would be a blank
_CONTROL = r"[\x00-\x1f\x7f]"


def write_newick(tree: CodingTree, file: IO[bytes]) -> None:
    """Write a tree on one line; every branch has length 1, one level.

    Clusters are called ``level1.0``: the level, and the number on the level. Names with other
    characters than letters, digits and ``.+*/|-`` are quoted, quotation marks doubled.

    Raises:
        ValueError: two names are the same as text, or one has a control character.
    """
    parts = [f"{_quoted(name)}:1" for name in text_names(tree, "Newick", _CONTROL, unique=True)]
    for level in range(1, tree.height + 1):
        parent = tree.assignment(level)
        order = np.argsort(parent, kind="stable")
        ends = np.searchsorted(parent[order], np.arange(tree.num_clusters(level) + 1)).tolist()
        below = [parts[i] for i in order.tolist()]
        label = f"level{level}.{{}}:1" if level < tree.height else ""
        parts = [
            f"({','.join(below[start:end])}){label.format(cluster)}"
            for cluster, (start, end) in enumerate(pairwise(ends))
        ]
    with as_text(file) as text:
        text.write(f"{parts[0]};\n")


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"
