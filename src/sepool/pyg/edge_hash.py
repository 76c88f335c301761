"""A hash of the edges of a graph, which a batch compares with its edges in two sums.

The hash holds two sums over the edges, modulo 2^14: of the products of both ends, which changes
with every rewiring that preserves degrees of a small graph, and of the ends themselves. They do not
depend on the order of the edges. For a batch, in which nodes are shifted, both follow from those of
the graphs. A header has the hash and the edge layout in one number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.segments import Ints, pointers

LAYOUT_BITS, HASH_BITS = 2, 14
LAYOUT_MASK, HASH_MASK = (1 << LAYOUT_BITS) - 1, (1 << HASH_BITS) - 1
HASHED = 1 << (LAYOUT_BITS + 2 * HASH_BITS)  # the number has a hash


class EdgeHash(NamedTuple):
    """Sums over edges modulo 2^14: of one graph or batch, or arrays with an entry a graph."""

    product: Any
    total: Any


def hash_edges(counts: Ints, row: NDArray[Any], col: NDArray[Any]) -> EdgeHash:
    """Return the hash of every graph from its number of edges, and the edges of all."""
    row, col = row.astype(np.int64), col.astype(np.int64)
    ptr = pointers(counts)
    sums = [np.append(0, values.cumsum())[ptr] for values in (row * col, row + col)]
    return EdgeHash(*(np.diff(values) & HASH_MASK for values in sums))


def join_layout(layout: NDArray[Any], hashes: EdgeHash) -> Ints:
    """Return one number a graph that holds its edge layout and hash."""
    joined: Ints = layout | HASHED | (hashes.product | hashes.total << HASH_BITS) << LAYOUT_BITS
    return joined


def split_layout(numbers: Ints, nodes: Ints, edges: Ints) -> tuple[Ints, EdgeHash | None]:
    """Return the layouts of all graphs, and the hash of their batch, from `join_layout`.

    Args:
        numbers: the numbers; those of older trees have no hash, and so has their batch.
        nodes: the number of nodes of every graph.
        edges: the number of edges of every graph.
    """
    if not (numbers & HASHED).all():
        return numbers & LAYOUT_MASK, None
    word = numbers >> LAYOUT_BITS
    product, total = word & HASH_MASK, word >> HASH_BITS & HASH_MASK
    shift = nodes.cumsum() - nodes
    product = product + shift * total + edges * shift**2
    total = total + 2 * edges * shift
    hashes = EdgeHash(int(product.sum()) & HASH_MASK, int(total.sum()) & HASH_MASK)
    return numbers & LAYOUT_MASK, hashes
