"""Merging of duplicate nodes in a star and a complete graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sepool.pyg.format import EdgeBlocks, Forest
from sepool_experiments.batches import store
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.data.graphs import GraphSet
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.models.graphs.sep_g import SEPG
from small_graphs import outputs_and_gradients


def star_and_complete():
    """Return a star of nine nodes in one cluster and a complete graph of six in two."""
    star = [(0, i) for i in range(1, 9)]
    complete = [(i, j) for i in range(6) for j in range(i)]
    parts = [np.array(edges + [(b, a) for a, b in edges]) for edges in (star, complete)]
    row, col = np.concatenate([part[np.lexsort(part.T[::-1])] for part in parts]).T
    counts, nodes = np.array([len(part) for part in parts]), np.array([9, 6])
    trees = Forest(np.array([[9, 1, 1, 1], [6, 2, 1, 1]]), np.zeros(11 + 9, np.int32))
    trees.parent[14:17] = 1  # half of the complete graph
    return GraphSet("TWO", nodes, EdgeBlocks(counts, row, col), None, np.array([0, 1])), trees


def store_of(conv, row_indexed, labels=None, levels=(0, 1, 2)):
    graphs, trees = star_and_complete()
    graphs = GraphSet(graphs.name, graphs.nodes, graphs.edges, labels, graphs.y)
    return GraphStore(graphs, trees, CONVS[conv], levels, row_indexed=row_indexed)


def test_store_merges_nodes_with_equal_aggregates():
    store = store_of("GCN", True)
    assert sorted(store.multiplicity[:2].tolist()) == [1, 8]  # the centre and the leaves
    assert store.multiplicity[2:].tolist() == [3, 3, 0]  # one a cluster, and the empty row
    assert store.levels[0].counts.tolist() == [2, 2, 0]
    assert store.levels[1].sizes.tolist() == [2, 1, 1, 0]


def test_store_for_attention_merges_adjacent_duplicates():
    store = store_of("GAT", True)
    assert store.multiplicity.tolist() == [1] * 9 + [3, 3, 0]
    rows = store.levels[0].rows
    assert rows.by_graph.tolist() == [9 + 16, 4, 0]  # loops and remaining edges
    assert rows.node_term[9:11].flatten().tolist() == pytest.approx([np.log(3)] * 2)


def test_store_keeps_nodes_with_different_labels():
    labels = np.array([0] * 9 + [0, 1, 0, 0, 1, 1])
    for conv in ("GAT", "ChebNet", "GraphSAGE"):
        assert sorted(store_of(conv, True, labels).multiplicity[-5:-1].tolist()) == [1, 1, 2, 2]
    for conv in ("GCN", "GIN"):  # sums do not distinguish a node from its neighbours
        assert store_of(conv, True, labels).multiplicity[-3:-1].tolist() == [3, 3]


def test_store_merges_nothing_for_convolutions_on_nodes():
    for conv in CONVS:
        assert store_of(conv, False).multiplicity is None
        assert store_of(conv, True, levels=(0, 0, 1)).multiplicity is None


def test_store_merges_from_a_share_of_duplicates_on(monkeypatch):
    monkeypatch.setattr(store, "MIN_DUPLICATES", 0.25)
    assert store_of("GAT", True).multiplicity is not None
    monkeypatch.setattr(store, "MIN_DUPLICATES", 0.3)
    assert store_of("GAT", True).multiplicity is None
    assert store_of("GAT", True).levels[0].counts.tolist() == [9, 6, 0]


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("conv", CONVS)
def test_merged_duplicates_change_no_output_or_gradient(conv, norm):
    ids, outs = torch.tensor([[0, 1], [1, 0]]), []
    torch.manual_seed(0)
    model = SEPG(store_of(conv, False).num_features, 8, 2, conv=conv, norm=norm, replicas=2)
    for row_indexed in (False, True):
        store = store_of(conv, row_indexed)
        outs.append(outputs_and_gradients(model, store, ids))
    near = 1e-3 if norm else 1e-4  # to normalise values that are nearly equal magnifies rounding
    for a, b in zip(*outs, strict=True):
        torch.testing.assert_close(a, b, rtol=near, atol=near * max(1.0, a.abs().max().item()))


def test_merged_duplicates_need_the_reduction_sum():
    store, ids = store_of("GCN", True), torch.tensor([[0, 1]])
    batch = store.batch(ids, store.capacity(ids))
    model = SEPG(store.num_features, 8, 2, reduce="max", replicas=1)
    with pytest.raises(ValueError, match="need the reduction sum, got max"):
        model(batch)
