"""Nodes that are alike as one row: a star, a complete graph, and models that cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sepool.pyg.format import EdgeBlocks, Forest
from sepool_experiments.batches import store
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.data.graphs import GraphSet
from sepool_experiments.layers import SEPG
from sepool_experiments.layers.convs import CONVS
from small_graphs import outputs_and_gradients


def star_and_complete():
    """A star of nine in one cluster, and six who all know each other in two."""
    star = [(0, i) for i in range(1, 9)]
    complete = [(i, j) for i in range(6) for j in range(i)]
    parts = [np.array(edges + [(b, a) for a, b in edges]) for edges in (star, complete)]
    row, col = np.concatenate([part[np.lexsort(part.T[::-1])] for part in parts]).T
    counts, nodes = np.array([len(part) for part in parts]), np.array([9, 6])
    trees = Forest(np.array([[9, 1, 1, 1], [6, 2, 1, 1]]), np.zeros(11 + 9, np.int32))
    trees.parent[14:17] = 1  # half of the complete graph
    return GraphSet("TWO", nodes, EdgeBlocks(counts, row, col), None, np.array([0, 1])), trees


def store_of(conv, by_source, labels=None, levels=(0, 1, 2)):
    graphs, trees = star_and_complete()
    graphs = GraphSet(graphs.name, graphs.nodes, graphs.edges, labels, graphs.y)
    return GraphStore(graphs, trees, CONVS[conv], levels, by_source=by_source)


def test_nodes_that_gather_the_same_are_one_row():
    store = store_of("GCN", True)
    assert sorted(store.multiplicity[:2].tolist()) == [1, 8]  # the centre and the leaves
    assert store.multiplicity[2:].tolist() == [3, 3, 0]  # one a cluster, and the empty row
    assert store.levels[0].counts.tolist() == [2, 2, 0]
    assert store.levels[1].sizes.tolist() == [2, 1, 1, 0]


def test_attention_merges_nodes_that_know_each_other():
    """A leaf sees itself and the centre, so that leaves are alike too, but no others see that."""
    store = store_of("GAT", True)
    assert store.multiplicity.tolist() == [1] * 9 + [3, 3, 0]
    rows = store.levels[0].rows
    assert rows.by_graph.tolist() == [9 + 16, 4, 0]  # loops, and edges between who is left
    assert rows.node[9:11].flatten().tolist() == pytest.approx([np.log(3)] * 2)


def test_nodes_that_look_different_stay_apart():
    """Not for GCN and GIN, in whose sums a node is one among its neighbours."""
    labels = np.array([0] * 9 + [0, 1, 0, 0, 1, 1])
    for conv in ("GAT", "ChebNet", "GraphSAGE"):
        assert sorted(store_of(conv, True, labels).multiplicity[-5:-1].tolist()) == [1, 1, 2, 2]
    for conv in ("GCN", "GIN"):
        assert store_of(conv, True, labels).multiplicity[-3:-1].tolist() == [3, 3]


def test_nothing_is_merged_where_every_node_counts():
    for conv in CONVS:
        assert store_of(conv, False).multiplicity is None
        assert store_of(conv, True, levels=(0, 0, 1)).multiplicity is None


def test_few_twins_are_not_worth_it(monkeypatch):
    """Of 15 nodes GAT spares four."""
    monkeypatch.setattr(store, "SPARED", 0.25)
    assert store_of("GAT", True).multiplicity is not None
    monkeypatch.setattr(store, "SPARED", 0.3)
    assert store_of("GAT", True).multiplicity is None
    assert store_of("GAT", True).levels[0].counts.tolist() == [9, 6, 0]


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("conv", CONVS)
def test_a_model_cannot_tell(conv, norm):
    ids, outs = torch.tensor([[0, 1], [1, 0]]), []
    torch.manual_seed(0)
    model = SEPG(store_of(conv, False).num_features, 8, 2, conv=conv, norm=norm, replicas=2)
    for by_source in (False, True):
        store = store_of(conv, by_source)
        outs.append(outputs_and_gradients(model, store, ids))
    near = 1e-3 if norm else 1e-4  # to normalise values that are nearly equal magnifies rounding
    for a, b in zip(*outs, strict=True):
        torch.testing.assert_close(a, b, rtol=near, atol=near * max(1.0, a.abs().max().item()))


def test_rows_that_stand_for_several_nodes_can_only_be_summed():
    store, ids = store_of("GCN", True), torch.tensor([[0, 1]])
    batch = store.batch(ids, store.shape(ids))
    model = SEPG(store.num_features, 8, 2, reduce="max", replicas=1)
    with pytest.raises(ValueError, match="can be summed, not max"):
        model(batch)
