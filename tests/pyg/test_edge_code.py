from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import shapes

from sepool.pyg.edge_code import decode_edges, encode_edges
from sepool.pyg.format import EdgeBlocks


@st.composite
def lists(draw) -> tuple[int, list[tuple[int, int]]]:
    """A graph's edges, plain or in some disorder."""
    n, edges = draw(shapes.graphs())
    both = sorted({pair for u, v, _ in edges for pair in ((u, v), (v, u))})
    disorder = draw(st.sampled_from(["none", "shuffled", "repeated", "directed"]))
    if disorder == "shuffled":
        both = draw(st.permutations(both))
    elif disorder == "repeated":
        both = both + both[:1]
    elif disorder == "directed":
        both = both[1:]
    return n, list(both)


def blocks(graphs) -> tuple[np.ndarray, EdgeBlocks]:
    counts = np.array([len(edges) for _, edges in graphs])
    row, col = np.array([pair for _, edges in graphs for pair in edges], int).reshape(-1, 2).T
    return np.array([n for n, _ in graphs]), EdgeBlocks(counts, row, col)


@given(st.lists(lists(), min_size=1, max_size=5))
def test_decode_edges_encoded_lists_are_equal(graphs):
    nodes, edges = blocks(graphs)
    counts, ends = decode_edges(encode_edges(nodes, edges), nodes)
    assert counts.tolist() == edges.counts.tolist()
    assert ends.tolist() == [edges.row.tolist(), edges.col.tolist()]


def test_encode_edges_sorted_symmetric_lists_are_plain():
    ring = sorted(pair for u, v in shapes.ring(5) for pair in ((u, v), (v, u)))
    graphs = [
        (5, ring),
        (5, ring[::-1]),
        (5, []),
        (5, ring[1:]),
        (5, [(2, 2)]),
        (5, [*ring, (4, 4)]),
    ]
    arrays = encode_edges(*blocks(graphs))
    assert arrays["plain"].tolist() == [True, False, True, False, True, True]
    assert len(arrays["gaps"]) == 5 + 1 + 6


def test_encode_edges_clique_has_gaps_of_zero():
    clique = sorted(pair for u, v in shapes.complete(9) for pair in ((u, v), (v, u)))
    gaps = encode_edges(*blocks([(9, clique)]))["gaps"]
    assert len(gaps) == 36
    assert sorted(gaps.tolist()) == [0] * 28 + [1] * 8


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0)])
def test_encode_edges_edge_out_of_range_raises(edge):
    with pytest.raises(ValueError, match="an edge leaves its graph"):
        encode_edges(*blocks([(3, [edge])]))
