"""Infomap's files of modules, ``.clu`` and ``.tree``.

The flow of a node is its degree over the sum of all degrees, Infomap's for undirected graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sepool.export.names import node_ids, text_names
from sepool.export.streams import as_text
from sepool.levels import names_of

if TYPE_CHECKING:
    from sepool.tree import CodingTree

_PLACES = "node_id: place of the node in the order of the graph, from 0, not its name"


def write_clu(tree: CodingTree, file: IO[bytes]) -> None:
    """Write ``node_id module flow``, the modules those of the coarsest level, from 1.

    Node ids are the names if these are whole numbers, the places of the nodes otherwise.
    """
    modules = tree.labels(tree.top) + 1 if tree.top else np.ones(tree.num_nodes, np.int32)
    ids = node_ids(tree)
    rows = zip(ids, modules.tolist(), _flow(tree).tolist(), strict=True)
    with as_text(file) as text:
        _write_header(text, tree, ids, [f"module level {tree.top}", "node_id module flow"])
        text.writelines(f"{node} {module} {flow:.9g}\n" for node, module, flow in rows)


def write_tree(tree: CodingTree, file: IO[bytes]) -> None:
    """Write ``path flow name node_id``; paths ``1:2:3`` lead from the coarsest level to the node.

    Modules are in their order, nodes in a module by descending flow.

    Raises:
        ValueError: a name has a quotation mark or a line break.
    """
    names = text_names(tree, "a .tree file", r'["\r\n]')
    ids, flow = node_ids(tree), _flow(tree)
    path = [""]
    for level in reversed(range(1, tree.height)):
        above = tree.assignment(level + 1)
        ranks = _ranks(above, np.arange(len(above))).tolist()
        path = [f"{path[i]}{rank}:" for i, rank in zip(above.tolist(), ranks, strict=True)]
    parent = tree.assignment(1)
    order = np.lexsort((np.arange(len(parent)), -flow, parent))
    up, rank, share = parent.tolist(), _ranks(parent, order).tolist(), flow.tolist()
    with as_text(file) as text:
        _write_header(text, tree, ids, ["path flow name node_id"])
        text.writelines(
            f'{path[up[i]]}{rank[i]} {share[i]:.9g} "{names[i]}" {ids[i]}\n' for i in order.tolist()
        )


def _write_header(text: IO[str], tree: CodingTree, ids: Sequence[int], columns: list[str]) -> None:
    modules = tree.num_clusters(tree.top) if tree.top else 1
    lines = [
        "written by sepool",
        f"partitioned into {tree.height} levels with {modules} top modules",
        f"structural entropy {tree.entropy:.9g} bits",
        *columns,
    ]
    if isinstance(ids, range) and not isinstance(names_of(tree), range):
        lines.insert(3, _PLACES)
    text.writelines(f"# {line}\n" for line in lines)


def _flow(tree: CodingTree) -> NDArray[np.float64]:
    volume = tree.volumes(0)
    return volume / (float(volume.sum()) or 1.0)


def _ranks(parent: NDArray[np.int32], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the ranks of nodes among their siblings, from 1, in an order by parents."""
    above = parent[order]
    rank = np.empty(len(parent), np.intp)
    rank[order] = np.arange(len(parent)) - np.searchsorted(above, above) + 1
    return rank
