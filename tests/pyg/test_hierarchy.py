from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import shapes
from tests.pyg_graphs import as_data, data, degenerate_graphs, dense, molecules, same_data
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader

import sepool
from sepool.pyg.format import EdgeBlocks, Forest, pack_blocks
from sepool.pyg.hierarchy import (
    DIRECTED,
    SORTED,
    SYMMETRIC,
    NoTreeError,
    hierarchy,
)


def with_trees(graphs, height=3, **options):
    return sepool.AddCodingTree(height, "fast", **options).apply_all(graphs)


def assert_dense(batch) -> None:
    """Assignments, pooled edges and weights of every level against S A S^T."""
    levels = hierarchy(batch)
    a = dense(batch.edge_index, batch.get("edge_weight"), batch.num_nodes)
    for level in range(1, levels.height + 1):
        up = levels.assignment(level)
        s = torch.nn.functional.one_hot(up, levels.num_clusters(level)).double().t()
        a = s @ a @ s.t()
        edges, weights = levels.edges[level - 1], levels.weights[level - 1]
        pooled = dense(edges, weights, levels.num_clusters(level))
        torch.testing.assert_close(pooled, a, rtol=1e-6, atol=1e-6)
        pairs = list(map(tuple, edges.t().tolist()))
        assert pairs == sorted(set(pairs))  # by row, once


def assert_consistent(batch) -> None:
    """Sizes, pointers, order and graphs against the assignments."""
    levels = hierarchy(batch)
    graphs = batch.batch if "batch" in batch else torch.zeros(batch.num_nodes, dtype=torch.long)
    for level in range(levels.height + 1):
        n = levels.num_clusters(level)
        assert levels.batch(level).tolist() == graphs.tolist()
        counts = torch.bincount(graphs, minlength=levels.num_graphs)
        assert levels.graph_ptr(level).diff().tolist() == counts.tolist()
        if level == levels.height:
            assert n == levels.num_graphs
            break
        up = levels.assignment(level + 1)
        above = levels.num_clusters(level + 1)
        assert torch.bincount(up, minlength=above).tolist() == levels.sizes[level].tolist()
        assert levels.ptr(level + 1).tolist() == [0, *levels.sizes[level].cumsum(0).tolist()]
        lined_up = up[levels.order] if level == 0 and levels.order is not None else up
        assert lined_up.tolist() == sorted(up.tolist())
        graphs = torch.zeros(above, dtype=torch.long).index_copy(0, up, graphs)


@given(st.lists(data(), min_size=1, max_size=5), st.integers(1, 5))
def test_hierarchy_batch_equals_dense_formulas(graphs, height):
    for graph in graphs:  # PyG joins what the first graph has
        if "edge_weight" not in graph:
            graph.edge_weight = torch.ones(graph.num_edges)
    batch = Batch.from_data_list(with_trees(graphs, height))
    assert_dense(batch)
    assert_consistent(batch)


@given(data(), st.integers(1, 4), st.sampled_from(shapes.METHODS))
def test_hierarchy_one_graph_equals_coding_tree(graph, height, method):
    levels = hierarchy(sepool.AddCodingTree(height, method, ties="structure")(graph))
    weights = graph.get("edge_weight")
    whole = Data(edge_index=graph.edge_index, edge_weight=weights, num_nodes=graph.num_nodes)
    tree = sepool.coding_tree(whole, height, method=method)
    for level in range(1, height + 1):
        assert levels.assignment(level).tolist() == tree.assignment(level).tolist()


def test_hierarchy_degenerate_graphs_equal_dense_formulas():
    batch = Batch.from_data_list(with_trees(degenerate_graphs()))
    assert_dense(batch)
    assert_consistent(batch)


def test_pack_blocks_large_graph_equals_dense_formulas():
    star = as_data(shapes.star(3000), 3000)
    tree = sepool.CodingTree.from_levels(np.array(shapes.star(3000)), np.arange(3000) // 2)
    forest = Forest(np.array([tree.counts]), tree.parent)
    counts = np.array([star.num_edges])
    [block] = pack_blocks(forest, EdgeBlocks(counts, *star.edge_index.numpy())).tensors()
    star.tree = block
    assert_dense(star)


def test_edge_layout_batch_has_the_least():
    plain, directed = as_data(shapes.ring(5), 5), as_data([(0, 1)], 3)
    shuffled = as_data(shapes.ring(5), 5)
    shuffled.edge_index = shuffled.edge_index.flip(1)
    directed.edge_index = torch.tensor([[0, 1], [1, 2]])
    graphs = with_trees([plain, shuffled, directed], symmetrise=True)
    layouts = [hierarchy(graph).edge_layout for graph in graphs]
    assert layouts == [SORTED, SYMMETRIC, DIRECTED]
    assert hierarchy(Batch.from_data_list(graphs)).edge_layout == DIRECTED


# The stock loader


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_batches_equal_dense_formulas(workers):
    graphs = with_trees(molecules(50))
    loader = DataLoader(graphs, batch_size=16, num_workers=workers, follow_batch=["tree"])
    graphs_of_batches = []
    for batch in loader:
        assert_dense(batch)
        assert torch.bincount(batch.tree_batch).tolist() == batch.tree_ptr.diff().tolist()
        graphs_of_batches += batch.to_data_list()
    assert all(map(same_data, graphs_of_batches, graphs))


def test_loader_excluded_keys_are_absent():
    graphs = with_trees(molecules(4))
    [batch] = DataLoader(graphs, batch_size=4, exclude_keys=["tree"])
    assert "tree" not in batch
    [batch] = DataLoader(graphs, batch_size=4, exclude_keys=["x", "y"])
    assert_dense(batch)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="memory is pinned for a GPU only")
def test_loader_pinned_memory_gives_equal_hierarchy():
    graphs = with_trees(molecules(8))
    for batch in DataLoader(graphs, batch_size=4, pin_memory=True):
        assert batch.tree.is_pinned()
        levels, on_gpu = hierarchy(batch), hierarchy(batch.to("cuda", non_blocking=True))
        for level in range(1, 4):
            assert torch.equal(levels.assignment(level), on_gpu.assignment(level).cpu())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_hierarchy_copied_or_pickled_is_equal(duplicate):
    batch = Batch.from_data_list(with_trees(molecules(5)))
    levels = hierarchy(batch)
    levels.assignment(1)
    for other in (duplicate(levels), hierarchy(duplicate(batch))):
        for level in (1, 2, 3):
            assert torch.equal(other.assignment(level), levels.assignment(level))
            assert torch.equal(other.weights[level - 1], levels.weights[level - 1])


def test_in_memory_dataset_saved_trees_are_loaded(tmp_path):
    graphs = with_trees(molecules(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        InMemoryDataset.save(graphs, tmp_path / "graphs.pt")
        dataset = InMemoryDataset()
        dataset.load(tmp_path / "graphs.pt")
    assert all(map(same_data, dataset, graphs))


def test_hierarchy_to_moves_all_tensors():
    levels = hierarchy(with_trees(molecules(1))[0])
    moved = levels.to("meta")
    assert moved.assignment(1).device.type == "meta"
    assert moved.num_clusters(0) == levels.num_clusters(0)


def test_hierarchy_tree_of_0_1_0_is_read():
    file = np.load(Path(__file__).with_name("files") / "hierarchy-0.1.0.npz")
    edges, tree = torch.from_numpy(file["edge_index"]), torch.from_numpy(file["tree"])
    levels = hierarchy(Data(edge_index=edges, num_nodes=6, tree=tree))
    assert levels.height == 3
    for level in (1, 2, 3):
        assert levels.assignment(level).tolist() == file[f"assignment_{level}"].tolist()


# Bad input


def test_hierarchy_no_tree_raises():
    with pytest.raises(NoTreeError, match=r"data = sepool\.AddCodingTree\(height\)\(data\)"):
        hierarchy(as_data([(0, 1)], 2))


@pytest.mark.parametrize(
    "tree", [torch.zeros(4), torch.zeros(4).int(), torch.zeros(0).int(), -torch.ones(2, 2), "oak"]
)
def test_hierarchy_other_attribute_tree_raises(tree):
    with pytest.raises(ValueError, match=r"not what sepool\.AddCodingTree adds"):
        hierarchy(as_data([(0, 1)], 2, tree=tree))


def test_hierarchy_tree_of_another_graph_raises():
    small, large = with_trees([as_data([(0, 1)], 2), as_data(shapes.ring(5), 5)])
    small.tree = large.tree
    with pytest.raises(ValueError, match="5 nodes and 10 edges, the data has 2 and 2"):
        hierarchy(small)
    large.edge_index = large.edge_index[:, :-2]
    with pytest.raises(ValueError, match="after the graph's last change"):
        hierarchy(large)


@pytest.mark.parametrize("heights", [(2, 3), (3, 2), (1, 9), (9, 1)])
def test_hierarchy_mixed_heights_raises(heights):
    graphs = [with_trees([as_data([], 1)], height)[0] for height in heights]
    low, high = sorted(heights)
    with pytest.raises(ValueError, match=f"mixes trees of height {low} and {high}"):
        hierarchy(Batch.from_data_list(graphs))


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_add_coding_tree_invalid_weight_raises(weight):
    graph = as_data([(0, 1)], 2, edge_weight=torch.tensor([weight, weight]))
    with pytest.raises(ValueError, match="must not be negative"):
        with_trees([graph], edge_weight=None)


def test_add_coding_tree_weight_above_float32_raises():
    graph = as_data([(0, 1)], 2, edge_weight=torch.full((2,), 1e300, dtype=torch.double))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"sum to 1e\+300, more than a float32 can hold"):
            with_trees([graph], edge_weight=None)


def test_hierarchy_from_inference_mode_can_be_trained_with():
    graph = with_trees(molecules(1))[0]
    levels = hierarchy(graph)
    with torch.inference_mode():
        made = hierarchy(graph)
        levels.assignment(1)
        made.assignment(1)
    x = torch.ones(graph.num_nodes, 1, requires_grad=True)
    for result in (levels, made):
        x[result.assignment(1)].square().sum().backward()
        parts = (*result.sizes, *result.edges, result.order)
        assert not any(part.is_inference() for part in parts)


def test_pack_blocks_slice_of_trees_equals_their_part():
    graphs = molecules(6)
    arrays = [
        graph.edge_index.t().numpy()[(graph.edge_index[0] < graph.edge_index[1]).numpy()]
        for graph in graphs
    ]
    trees = sepool.coding_trees(arrays, 3, method="fast", colours=[graph.x for graph in graphs])
    whole = with_trees(graphs)
    for part in (slice(2, 5), slice(None, None, -1), slice(None)):
        some = graphs[part]
        counts = np.array([graph.num_edges for graph in some])
        row, col = torch.cat([graph.edge_index for graph in some], 1).numpy()
        blocks = pack_blocks(Forest.of(trees[part]), EdgeBlocks(counts, row, col))
        assert all(map(torch.equal, blocks.tensors(), [graph.tree for graph in whole[part]]))
