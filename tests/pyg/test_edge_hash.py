"""Graphs that changed under an old tree, found by the hash of their edges."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from tests.nn.graphs import random_batch, random_graph
from torch_geometric.data import Batch, Data

import sepool
from sepool.pyg.edge_hash import EdgeHash, hash_edges, join_layout, split_layout

CYCLE = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])


def cycle() -> Data:
    edges = torch.cat([CYCLE, CYCLE.flip(0)], 1)
    return sepool.AddCodingTree(2)(Data(edge_index=edges, num_nodes=6))


def test_hierarchy_of_rewired_edges_is_refused():
    data = cycle()
    for old, new in (((0, 1), (0, 2)), ((0, 1), (3, 5)), ((4, 5), (3, 5))):
        other = copy.copy(data)
        edges = other.edge_index.t().tolist()
        pairs = {old: new, old[::-1]: new[::-1]}
        other.edge_index = torch.tensor([pairs.get(tuple(pair), pair) for pair in edges]).t()
        with pytest.raises(ValueError, match="edges were rewired or nodes renumbered after it was"):
            sepool.hierarchy(other)
        batch = Batch.from_data_list([data, other, data])
        with pytest.raises(ValueError, match="edges were rewired or nodes renumbered after it was"):
            sepool.hierarchy(batch)


def test_hierarchy_of_swapped_ends_is_refused():
    """Degrees stay: edges (0, 1) and (3, 4) become (0, 4) and (3, 1)."""
    data = cycle()
    swap = {(0, 1): (0, 4), (1, 0): (4, 0), (3, 4): (3, 1), (4, 3): (1, 3)}
    pairs = [swap.get(tuple(pair), pair) for pair in data.edge_index.t().tolist()]
    data.edge_index = torch.tensor(pairs).t()
    with pytest.raises(ValueError, match="the tree is of another graph: edges were rewired"):
        sepool.hierarchy(data)


def test_hierarchy_of_renumbered_nodes_is_refused():
    data = sepool.AddCodingTree(2)(random_graph(12, 0))
    data.edge_index = torch.randperm(12, generator=torch.Generator().manual_seed(1))[
        data.edge_index
    ]
    with pytest.raises(ValueError, match="nodes renumbered"):
        sepool.hierarchy(data)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_hierarchy_of_edges_in_another_order_or_type_is_read(dtype):
    data = sepool.AddCodingTree(2)(random_graph(12, 0))
    order = torch.randperm(data.num_edges)
    data.edge_index = data.edge_index[:, order].to(dtype)
    assert sepool.hierarchy(data).height == 2


def test_hierarchy_of_a_tree_without_hash_is_read():
    data = cycle()
    data.tree[1] &= 3
    data.edge_index = data.edge_index.flip(1)
    assert sepool.hierarchy(data).height == 2


def test_hash_of_a_batch_follows_from_its_graphs():
    graphs = [random_graph(n, n) for n in (5, 30, 200, 7)]
    nodes = np.array([graph.num_nodes for graph in graphs])
    counts = np.array([graph.num_edges for graph in graphs])
    row, col = np.concatenate([graph.edge_index.numpy() for graph in graphs], axis=1)
    layouts = np.array([0, 1, 2, 2])
    numbers = join_layout(layouts, hash_edges(counts, row, col))
    assert (numbers >= 0).all()
    assert (numbers < 2**31).all()
    found, hashes = split_layout(numbers, nodes, counts)
    batch = Batch.from_data_list(graphs)
    row, col = batch.edge_index.tolist()
    product = sum(i * j for i, j in zip(row, col, strict=True)) % 2**14
    assert found.tolist() == layouts.tolist()
    assert hashes == EdgeHash(product, (sum(row) + sum(col)) % 2**14)


def test_hash_of_a_batch_on_which_models_run():
    assert sepool.hierarchy(random_batch()).height == 3
