"""Nested JSON, as ``d3.hierarchy`` takes it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from sepool.export.names import text_names
from sepool.export.streams import as_text

if TYPE_CHECKING:
    from sepool.tree import CodingTree


def write_d3(tree: CodingTree, file: IO[bytes]) -> None:
    """Write ``{"name", "children"}`` for clusters and ``{"name", "value"}`` for nodes.

    The value of a node is its degree; a cluster also has its ``level`` and its number on the level,
    ``cluster``, and is named after its members of the largest degree. The root has no name.
    """
    pairs = zip(text_names(tree, "JSON"), tree.volumes(0).tolist(), strict=True)
    parts: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in pairs]
    for level in range(1, tree.height + 1):
        names = tree.cluster_names(level) if level < tree.height else [""]
        parent = tree.assignment(level)
        order = np.argsort(parent, kind="stable")
        ends = np.searchsorted(parent[order], np.arange(tree.num_clusters(level) + 1)).tolist()
        below = [parts[i] for i in order.tolist()]
        parts = [
            {"name": names[i], "level": level, "cluster": i, "children": below[start:end]}
            for i, (start, end) in enumerate(pairwise(ends))
        ]
    with as_text(file) as text:
        text.write(json.dumps(parts[0], ensure_ascii=False) + "\n")  # dump is 20 times as slow
