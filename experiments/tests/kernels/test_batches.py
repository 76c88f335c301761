"""Batches sliced by kernels against those sliced by PyTorch."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.batches.slicing import Capacity
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.batches.tables import Tables
from sepool_experiments.kernels.registry import disabled, interpreted, load
from sepool_experiments.layers.convs import CONVS
from small_graphs import forest, graph_set

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SETS = {key: graph_set(seed=key[1]) for key in ((2, 0), (3, 1))}  # by height and seed
TREES = {key: forest(graphs, key[0]) for key, graphs in SETS.items()}


def both_batches(store, ids, capacity):
    """Slice a batch by PyTorch and by kernels."""
    store.tables = Tables.of(store.levels, store.y)
    with disabled():
        plain = store.batch(ids, capacity)
    with interpreted():
        return plain, store.batch(ids, capacity)


def some_ids(replicas, size, missing=(), seed=0):
    generator = torch.Generator().manual_seed(seed)
    count = len(SETS[2, 0].y)
    ids = torch.stack([torch.randperm(count, generator=generator)[:size] for _ in range(replicas)])
    for place in missing:
        ids[place] = count
    return ids.to(DEVICE)


def assert_equal(mine, theirs):
    assert mine.dtype == theirs.dtype
    assert mine.shape == theirs.shape
    assert mine.is_contiguous() or mine is theirs
    assert torch.equal(mine, theirs)


def assert_same(plain, found):
    """Compare all tensors; the kernels also fill the cache of the hierarchy."""
    for name in ("x", "y", "graph_mask", "input_sums", "row_index"):
        mine, theirs = getattr(found, name), getattr(plain, name)
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            assert_equal(mine, theirs)
    for mine, theirs in zip(found.num_valid, plain.num_valid, strict=True):
        assert_equal(mine, theirs)
    height = plain.levels.height
    assert (found.levels.height, found.levels.num_graphs) == (height, plain.levels.num_graphs)
    assert found.levels.num_nodes == plain.levels.num_nodes
    cached = {*((name, level) for name in ("batch", "graph_ptr") for level in range(height + 1))}
    cached |= {(name, level + 1) for name in ("ptr", "assignment") for level in range(height)}
    assert set(found.levels._cache) == cached
    for level in range(height + 1):
        assert_equal(found.levels.batch(level), plain.levels.batch(level))
        assert_equal(found.levels.graph_ptr(level), plain.levels.graph_ptr(level))
        if level > 0:
            assert_equal(found.levels.sizes[level - 1], plain.levels.sizes[level - 1])
            assert_equal(found.levels.ptr(level), plain.levels.ptr(level))
            assert_equal(found.levels.assignment(level), plain.levels.assignment(level))
    assert list(found.operators) == list(plain.operators)
    for (a, node), (b, other) in zip(
        found.operators.values(), plain.operators.values(), strict=True
    ):
        assert (node is None) == (other is None)
        if other is not None:
            assert_equal(node, other)
        for name in ("ptr", "row", "index", "weight"):
            assert_equal(getattr(a, name), getattr(b, name))
        for mine, theirs in zip(a.transpose(), b.transpose(), strict=True):
            assert_equal(mine, theirs)
        assert a.symmetric == b.symmetric


@pytest.mark.parametrize("key", SETS, ids=str)
@pytest.mark.parametrize("spare", [0.0, 0.03, 1.5])
@pytest.mark.parametrize("conv", CONVS)
def test_same_as_plain(conv, spare, key):
    graphs, trees = SETS[key], TREES[key]
    binary, link, row_indexed = spare > 1, spare > 0, key[1] > 0
    store = GraphStore(graphs, trees, CONVS[conv], (0, 1, 2), binary, link, DEVICE, row_indexed)
    ids = some_ids(3, 7, [(0, 0), (1, 5), (2, 6), (2, 2), (2, 3)], key[1])
    assert_same(*both_batches(store, ids, store.capacity(ids, spare)))


@pytest.mark.parametrize(
    ("conv", "levels", "shape", "missing"),
    [
        *(("GAT", (0, 1, 2), (1, size), [(0, size // 2)]) for size in (1, 2, 16, 24)),
        *(("GAT", (0, 1, 2), (5, size), [(4, size // 2)]) for size in (1, 2, 16, 24)),
        ("GraphSAGE", (0, 1, 2), (2, 4), [(0,)]),  # nothing in the first replica
        *(("GCN", levels, (3, 7), [(1, 2)]) for levels in ((0, 0, 0), (0, 1, 3), (3,))),
    ],
    ids=str,
)
def test_same_for_any_levels_and_numbers_of_graphs(conv, levels, shape, missing):
    store = GraphStore(SETS[3, 1], TREES[3, 1], CONVS[conv], levels, device=DEVICE)
    ids = some_ids(*shape, missing)
    assert_same(*both_batches(store, ids, store.capacity(ids)))


def test_ids_may_be_any_part_of_a_tensor():
    store = GraphStore(SETS[3, 1], TREES[3, 1], CONVS["GIN"], device=DEVICE)
    ids = some_ids(3, 20, [(0, 9)])
    for part in (ids[:, 4:11], ids[:, ::3], ids[:, :3].T):
        assert_same(*both_batches(store, part, store.capacity(part)))


def test_many_nodes_and_entries(monkeypatch):
    """More than one program and one turn for each."""
    monkeypatch.setattr(load("batches"), "BLOCK", 16)
    monkeypatch.setattr(load("batches"), "PARTS", 2)
    store = GraphStore(SETS[3, 1], TREES[3, 1], CONVS["GAT"], device=DEVICE)
    ids = some_ids(18, 3, [(4, 1)])
    nodes, edges = store.capacity(ids, 0.2)
    assert_same(*both_batches(store, ids, Capacity(nodes, tuple(2 * count for count in edges))))
