from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sepool
from sepool.graph.colours import edge_colours, rank_groups, rank_rows

TYPES = ["?", "i1", "u1", ">i2", "i4", "i8", "u8", "f2", "f4", "f8", ">f4"]
VALUES = st.integers(0, 1)
SIGNED = st.sampled_from([-2, -1, 0, 1, 3])


def expected_ranks(rows: np.ndarray) -> list[int]:
    """Ranks by Python's order of tuples."""
    listed = [tuple(row) for row in rows.tolist()]
    distinct = sorted(set(listed))
    return [distinct.index(row) for row in listed]


@given(st.data(), st.sampled_from(TYPES), st.integers(0, 8), st.integers(1, 3))
def test_rank_rows_any_type_equals_the_order_of_tuples(data, dtype, n, width):
    values = VALUES if np.dtype(dtype).kind in "bu" else SIGNED
    rows = data.draw(hnp.arrays(dtype, (n, width), elements=values))
    assert rank_rows(rows).tolist() == expected_ranks(rows)


@given(hnp.arrays("f8", (6, 2), elements=st.floats(allow_nan=False)))
def test_rank_rows_any_float_equals_the_order_of_tuples(rows):
    assert rank_rows(rows).tolist() == expected_ranks(rows)


@given(hnp.arrays("i8", (6, 1)))
def test_rank_rows_any_integer_equals_the_order_of_tuples(rows):
    assert rank_rows(rows).tolist() == expected_ranks(rows)


def test_rank_rows_zeros_and_nans_are_equal_to_themselves():
    rows = np.array([[0.0, np.nan], [-0.0, -np.nan], [np.inf, 0.0], [np.nan, 0.0], [-np.inf, 0.0]])
    assert rank_rows(rows).tolist() == [1, 1, 2, 3, 0]


def test_rank_rows_without_columns_are_equal():
    assert rank_rows(np.empty((3, 0))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("rows", [["a", "b"], [1j, 2j], [None, 1]])
def test_rank_rows_no_numbers_raises(rows):
    with pytest.raises(TypeError, match="expected real numbers as colours or features, got"):
        rank_rows(rows)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=12))
def test_rank_groups_any_values_equals_the_order_of_sorted_lists(pairs):
    members = [sorted(value for at, value in pairs if at == group) for group in range(5)]
    group, values = np.array(pairs, np.int64).reshape(-1, 2).T
    ranks = rank_groups(group, values, 5).tolist()
    keys = [(len(listed), listed) for listed in members]
    for a, rank in enumerate(ranks):
        assert (rank == 0) == (not members[a])
        for b, other in enumerate(ranks):
            assert (rank < other) == (keys[a] < keys[b])


def test_edge_colours_directions_and_loops_are_apart():
    graph = sepool.as_graph([(0, 1), (1, 2), (2, 3)])
    row, col = np.array([0, 1, 1, 2, 3, 3, 0]), np.array([1, 0, 2, 1, 2, 3, 3])
    arcs, loops = edge_colours(
        graph.indptr, graph.indices.astype(np.int64), row, col, np.array([0, 0, 1, 0, 0, 5, 9])
    )
    pairs = dict(zip([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)], arcs.tolist(), strict=True))
    assert pairs[0, 1] == pairs[1, 0]
    assert len({pairs[pair] for pair in pairs}) == 5
    assert loops.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("colours", "message"),
    [
        ([[0, 1]], "colours has 1 entries for 2 graphs"),
        ([[0, 1], [0, 1, 2]], r"graph 1: expected one colour .* its 2 nodes, got .* shape \(3,\)"),
        ([[0, 1], 5], r"graph 1: expected one colour .* its 2 nodes, got .* shape \(\)"),
    ],
)
def test_coding_trees_colours_of_other_graphs_raises(colours, message):
    with pytest.raises(ValueError, match=message):
        sepool.coding_trees([[(0, 1)], [(0, 1)]], colours=colours)


def test_coding_trees_colours_that_are_text_raises():
    with pytest.raises(TypeError, match="expected real numbers as colours or features, got"):
        sepool.coding_trees([[(0, 1)]], colours=[["C", "N"]])


def test_coding_trees_colours_of_several_widths_order_each_graph():
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    wide = np.array([[0, 1], [1, 0], [1, 0], [0, 1]])
    trees = sepool.coding_trees([ring, ring], colours=[[1, 1, 0, 0], wide])
    assert [tree.labels(level=1).tolist() for tree in trees] == [[0, 0, 1, 1], [0, 1, 1, 0]]
