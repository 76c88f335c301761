"""CSR with integer weights from edge lists, and the rejection of bad input."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sepool
from sepool import _core

from . import shapes


def csr(n, edges, *, both=False, self_loops=False, ids=np.int64):
    """CSR of one graph from rows `u v` or `u v w`."""
    u, v = (np.array([e[i] for e in edges], ids) for i in (0, 1))
    w = np.array([e[2] for e in edges], float) if edges and len(edges[0]) == 3 else None
    return _core.csr(
        np.array([0, n]),
        np.array([0, len(edges)]),
        u,
        v,
        w,
        both=both,
        self_loops=self_loops,
    )


def as_weights(rows) -> tuple[dict[tuple[int, int], float], dict[int, float]]:
    """Weights of all arcs and of the loops of all nodes, in the units of the caller."""
    indptr, indices, weights, loops, unit = rows
    u = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    w = np.ones(len(indices)) if weights is None else weights
    arcs = dict(
        zip(zip(u.tolist(), indices.tolist(), strict=True), (w * unit[0]).tolist(), strict=True)
    )
    return arcs, {} if loops is None else {i: x * unit[0] for i, x in enumerate(loops.tolist())}


@given(shapes.graphs(), st.booleans(), st.booleans(), st.sampled_from([np.int32, np.int64]))
def test_rows_hold_what_was_listed(graph, both, self_loops, ids):
    n, edges = graph
    listed = [*edges, *((v, u, w) for u, v, w in edges if u != v)] if both else edges
    rows = csr(n, listed, both=both, self_loops=self_loops, ids=ids)
    indptr, indices, weights, loops, _ = rows
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    assert weights is None or (weights.dtype == np.int64 and (weights > 0).all())
    for start, stop in pairwise(indptr):
        assert (np.diff(indices[start:stop]) > 0).all()
    arcs, ends = Counter(), Counter()
    for u, v, w in edges:
        if u == v:
            ends[u] += w if both else 2 * w
        else:
            arcs[u, v] += w
            arcs[v, u] += w
    got_arcs, got_ends = as_weights(rows)
    assert got_arcs == pytest.approx({arc: w for arc, w in arcs.items() if w}, rel=2**-40)
    assert loops is None or self_loops
    expected = dict(ends) if self_loops else {}
    assert {i: w for i, w in got_ends.items() if w} == pytest.approx(
        {i: w for i, w in expected.items() if w}, rel=2**-40
    )


def same(rows, others) -> bool:
    """Compare two sets of rows array by array."""
    return all(
        x is y is None or (x.dtype == y.dtype and x.tolist() == y.tolist())
        for x, y in zip(rows, others, strict=True)
    )


@given(shapes.graphs(max_nodes=70, weights="ones"), st.booleans(), st.booleans())
@example((1, [(0, 0, 1.0)]), False, True)
def test_edges_without_weights_weigh_one(graph, both, self_loops):
    """Lists without weights have a way of their own if their graph is small."""
    n, edges = graph
    listed = [*edges, *((v, u, w) for u, v, w in edges if u != v)] if both else edges
    plain = [(u, v) for u, v, _ in listed]
    options = {"both": both, "self_loops": self_loops}
    assert same(csr(n, plain, **options), csr(n, listed, **options))


def test_loops_alone_are_scaled_like_everything_else():
    plain, listed = (csr(2, [(0, 0, *w), (1, 1, *w)], self_loops=True) for w in ((), (3.0,)))
    assert plain[3].tolist() == listed[3].tolist() == [1, 1]
    assert (plain[4].item(), listed[4].item()) == (2.0, 6.0)


@pytest.mark.parametrize("ids", [np.int32, np.int64])
def test_columns_are_read_where_they_lie(ids):
    table = np.array([(0, 9, 1), (3, 9, 2), (2, 9, 1)], ids)
    nodes, ends, options = [0, 4], [0, 3], {"both": False, "self_loops": False}
    for step in (1, -1):
        u, v = table[::step, 0], table[::step, 2]
        rows = _core.csr(np.array(nodes), np.array(ends), u, v, None, **options)
        assert same(rows, csr(4, [(0, 1), (3, 2), (2, 1)]))


def test_symmetrised_arcs_add_up():
    rows = csr(3, [(0, 1, 2.0), (1, 0, 3.0), (2, 1, 1.0)], both=False)
    assert as_weights(rows)[0] == {(0, 1): 5, (1, 0): 5, (1, 2): 1, (2, 1): 1}


def test_one_way_arcs():
    """With a weight or without, alone or beside others, an arc without its return is refused."""
    for edges in (
        [(0, 1)],
        [(0, 1, 0.5)],
        [(0, 1, 1.0), (1, 0, 1.001)],
        [(0, 1), (1, 0), (0, 1)],
        [(0, 1), (1, 2), (2, 0)],
    ):
        with pytest.raises(ValueError, match=r"is directed: from node 0 to .* symmetrise=True"):
            csr(3, edges, both=True)
    for rounding in (1e-12, 1e-7):  # of doubles and of floats: one weight
        rounded = csr(2, [(0, 1, 1.0), (1, 0, 1 + rounding)], both=True)
        assert as_weights(rounded)[0] == pytest.approx({(0, 1): 1, (1, 0): 1}, rel=2 * rounding)


class TestUnits:
    """Weights become integers; scaled weights become the same integers."""

    @pytest.mark.parametrize("scale", [2, 7, 1000, 0.5, 0.1, 0.3, 1e-3, 1e-9, 1e-200, 1e200])
    @pytest.mark.parametrize("base", [(1, 2, 3), (2, 3), (4, 6, 10), (3, 5, 7, 700), (1, 1, 1)])
    def test_scaled(self, base, scale):
        edges = [(i, i + 1, float(w)) for i, w in enumerate(base)]
        weights = csr(9, edges)[2]
        scaled = csr(9, [(u, v, w * scale) for u, v, w in edges])
        assert (scaled[2] is None) == (weights is None)
        if weights is not None:
            assert scaled[2].tolist() == weights.tolist()

    @pytest.mark.parametrize("scale", [1e-3, 0.01, 1 / 7, 3.7, 1e-12])
    def test_decimals(self, scale):
        """Weights in grams or in cents, the smallest of which has many."""
        k = np.random.default_rng(3).integers(1001, 500_000, 200)
        plain = csr(201, [(i, i + 1, float(w)) for i, w in enumerate(k)])
        scaled = csr(201, [(i, i + 1, w * scale) for i, w in enumerate(k)])
        assert scaled[2].tolist() == plain[2].tolist()
        assert scaled[4] == pytest.approx(plain[4] * scale)

    def test_the_order_of_weights_decides_nothing(self):
        weights = [9995.07, 9851941831.98, 44897770.01, 93844.7]
        units = {
            float(csr(5, [(i, i + 1, w) for i, w in enumerate(some)])[4][0])
            for some in permutations(weights)
        }
        assert len(units) == 1

    def test_equal_weights_need_no_array(self):
        assert csr(3, [(0, 1, 0.7), (1, 2, 0.7)])[2] is None
        assert csr(3, [(0, 1, 0.7), (1, 2, 0.7)])[4].tolist() == [0.7]

    def test_real_weights_keep_40_bits(self):
        weights = np.random.default_rng(0).uniform(1e-3, 1, 1000)
        edges = [(i, i + 1, w) for i, w in enumerate(weights)]
        got = as_weights(csr(1001, edges))[0]
        assert [got[i, i + 1] for i in range(1000)] == pytest.approx(weights, rel=2**-40)

    def test_a_loop_that_is_dropped_costs_the_others_no_precision(self):
        arcs, _ = as_weights(csr(3, [(0, 1, 1 / 3), (1, 2, 1 / 7), (2, 2, 1e17)]))
        assert arcs[0, 1] == pytest.approx(1 / 3, rel=2**-40)
        assert arcs[1, 2] == pytest.approx(1 / 7, rel=2**-40)

    def test_no_edge_is_too_light_to_count(self):
        assert csr(3, [(0, 1, 1e-300), (1, 2, 1e300)])[1].tolist() == [1, 0, 2, 1]

    def test_the_lightest_numbers_there_are(self):
        arcs, _ = as_weights(csr(3, [(0, 1, 2e-310), (1, 2, 3e-310)]))
        assert arcs[1, 2] / arcs[0, 1] == pytest.approx(1.5)

    @pytest.mark.parametrize("scale", [1e-300, 1e-306, 1e-308, 1e-310])
    def test_light_weights_without_a_common_part(self, scale):
        weights = np.array([0.123457, 0.7734561, 0.3334567]) * scale
        arcs, _ = as_weights(csr(4, [(i, i + 1, w) for i, w in enumerate(weights)]))
        assert [arcs[i, i + 1] / scale for i in range(3)] == pytest.approx(weights / scale)


class TestBadInput:
    @pytest.mark.parametrize("weight", [-1.0, -1e-300, np.nan, np.inf, -np.inf])
    def test_weights(self, weight):
        with pytest.raises(ValueError, match=rf"edge 1 has weight {weight:g}; weights must be"):
            csr(3, [(0, 1, 1.0), (1, 2, weight)])

    @pytest.mark.parametrize("ids", [np.int32, np.int64])
    @pytest.mark.parametrize("bad", [-1, 3, 2**31 - 1, -(2**31)])
    def test_ids(self, bad, ids):
        for edge in [(0, bad), (bad, 0), (bad, bad)]:
            with pytest.raises(ValueError, match=rf"edge 1 names node {bad}, .* has 3 nodes"):
                csr(3, [(0, 1), edge], ids=ids)

    @pytest.mark.parametrize("bad", [2**32, 2**32 + 1, 2**63 - 1, -(2**63)])
    def test_ids_that_would_wrap_around(self, bad):
        with pytest.raises(ValueError, match=rf"names node {bad}"):
            csr(3, [(0, bad)])

    def test_sums_that_overflow(self):
        for edges in ([(0, 1, 1.7e308)], [(0, 1, 9e307), (1, 2, 9e307)]):
            with pytest.raises(ValueError, match="add up to more than a quarter of the largest"):
                csr(3, edges)
        heavy = sepool.coding_tree([(0, 1, 1e307), (1, 2, 1e307)])
        assert heavy.entropy == sepool.coding_tree([(0, 1), (1, 2)]).entropy

    def test_the_graph_is_named_in_a_batch(self):
        nodes, ends, u, v = map(np.array, ([0, 2, 4], [0, 1, 2], [0, 0], [1, 5]))
        with pytest.raises(ValueError, match="edge 0 in graph 1 names node 5"):
            _core.csr(nodes, ends, u, v, None, both=False, self_loops=False)

    @pytest.mark.parametrize(
        ("node_ptr", "edge_ptr", "u", "v", "w"),
        [
            ([], [], [], [], None),
            ([0, 2], [0], [], [], None),
            ([0, 2], [0, 1, 1], [0], [1], None),
            ([1, 2], [0, 1], [0], [0], None),
            ([0, 2], [1, 1], [0], [1], None),
            ([0, 2, 1], [0, 1, 1], [0], [1], None),
            ([0, -2], [0, 0], [], [], None),
            ([0, 2, 4], [0, 5, 1], [0], [1], None),
            ([0, 2], [0, 1], [0, 1], [1], None),
            ([0, 2], [0, 1], [0], [1, 0], None),
            ([0, 2], [0, 1000], [0], [1], None),
            ([0, 2], [0, 1], [0], [1], [1.0, 2.0]),
            ([0, 2], [0, 1], [0], [1], []),
            ([0, 2**31], [0, 1], [0], [1], None),
        ],
    )
    def test_lengths_and_pointers(self, node_ptr, edge_ptr, u, v, w):
        arrays = [np.array(x, np.int64) for x in (node_ptr, edge_ptr, u, v)]
        w = None if w is None else np.array(w, float)
        with pytest.raises(ValueError, match=r"\w"):
            _core.csr(*arrays, w, both=False, self_loops=False)


def test_no_graphs():
    none = np.array([], np.int64)
    options = {"both": False, "self_loops": True}
    rows = _core.csr(np.array([0]), np.array([0]), none, none, None, **options)
    assert [len(rows[i]) for i in (0, 1, 4)] == [1, 0, 0]


@pytest.mark.parametrize("weights", [None, "repeats", "distinct"])
@pytest.mark.parametrize("both", [False, True])
def test_rows_of_a_large_graph_do_not_depend_on_threads(weights, both):
    rng = np.random.default_rng(1)
    n, m = 30_000, 250_000
    pairs = rng.integers(0, n, (m, 2))
    if weights is None:  # without repeats and loops
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        pairs = np.concatenate([np.unique(pairs, axis=0), np.stack([np.arange(n), np.arange(n)]).T])
        rest = np.unique(rng.integers(0, n, (m, 2)), axis=0)
        rest = rest[rest[:, 0] > rest[:, 1]]
        mirrored = {tuple(pair) for pair in pairs.tolist()}
        rest = np.array([pair for pair in rest.tolist() if (pair[1], pair[0]) not in mirrored])
        pairs = rng.permutation(np.concatenate([pairs, rest]))
    w = None if weights is None else rng.integers(0, 3, len(pairs)).astype(float)
    if weights == "distinct":
        w = rng.random(len(pairs))
    if both:
        backward = pairs[:, 0] != pairs[:, 1]
        w = None if w is None else np.concatenate([w, w[backward]])
        pairs = np.concatenate([pairs, pairs[backward, ::-1]])
    assert len(pairs) > 200_000
    pointers = np.array([0, n]), np.array([0, len(pairs)])
    columns = pairs[:, 0], pairs[:, 1], w
    one, two = (
        _core.csr(*pointers, *columns, both=both, self_loops=True, num_threads=threads)
        for threads in (1, 2)
    )
    assert (one[2] is None) == (weights is None)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_first_bad_id_of_a_large_graph_is_named_with_any_threads():
    pairs = np.random.default_rng(2).integers(0, 1000, (300_000, 2))
    pairs[[120_000, 250_000], 1] = [-7, 5000]
    for threads in (1, 2):
        with pytest.raises(ValueError, match="edge 120000 names node -7"):
            _core.csr(
                *(np.array([0, 1000]), np.array([0, len(pairs)]), pairs[:, 0], pairs[:, 1], None),
                **{"both": False, "self_loops": False, "num_threads": threads},
            )
