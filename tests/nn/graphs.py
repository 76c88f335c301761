"""Random graphs with random hierarchies: no compiled core is needed to make them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from sepool.pyg.format import EdgeBlocks, Forest, pack_blocks
from sepool.tree_batch import TreeBatch


def random_graph(
    num_nodes: int,
    seed: int,
    *,
    features: int = 5,
    share: float = 0.2,
    directed: bool = False,
    weighted: bool = False,
    loops: bool = False,
    shuffled: bool = False,
) -> Data:
    """A graph that has each possible edge with probability ``share``; its last node has none."""
    draw = torch.Generator().manual_seed(seed)
    there = torch.rand(num_nodes, num_nodes, generator=draw) < share
    weight = torch.rand(num_nodes, num_nodes, generator=draw) + 0.5
    if not directed:
        there, weight = there.triu() | there.triu().t(), weight.triu() + weight.triu(1).t()
    if not loops:
        there.fill_diagonal_(False)
    there[-1] = there[:, -1] = False
    edge_index = there.nonzero().t().contiguous()
    if shuffled:
        edge_index = edge_index[:, torch.randperm(edge_index.size(1), generator=draw)]
    data = Data(
        x=torch.randn(num_nodes, features, generator=draw),
        edge_index=edge_index,
        y=torch.randint(0, 2, (1,), generator=draw),
    )
    if weighted:
        data.edge_weight = weight[data.edge_index[0], data.edge_index[1]]
    return data


def random_levels(counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """Parents for each level but the last: every cluster has a member, all else is chance.

    Above the nodes, siblings stand side by side, as in all trees of sepool.
    """
    draw = np.random.default_rng(seed)
    found = []
    for below, above in pairwise(counts):
        parents = np.concatenate([np.arange(above), draw.integers(0, above, below - above)])
        found.append(np.sort(parents) if found else draw.permutation(parents))
    return found


def add_trees(graphs: Sequence[Data], counts: Sequence[Sequence[int]], seed: int = 0) -> list[Data]:
    """Gives every graph a random tree with so many nodes on its levels."""
    parents = [np.concatenate(random_levels(c, seed + i)) for i, c in enumerate(counts)]
    starts = np.cumsum([0, *(len(p) for p in parents[:-1])])
    nothing = np.zeros(0, np.int64)
    trees = TreeBatch(
        np.array(counts),
        np.concatenate(parents).astype(np.int32),
        nothing,
        nothing,
        np.zeros(len(counts)),
        np.ones(len(counts)),
        np.column_stack([starts, starts]),
    )
    row, col = torch.cat([graph.edge_index for graph in graphs], 1).numpy()
    weight = None
    if "edge_weight" in graphs[0]:
        weight = torch.cat([graph.edge_weight for graph in graphs]).double().numpy()
    edges = EdgeBlocks(np.array([graph.num_edges for graph in graphs]), row, col, weight)
    symmetric = all(is_symmetric(graph) for graph in graphs)
    blocks = pack_blocks(Forest.of(trees), edges, symmetric)
    for graph, block in zip(graphs, blocks.tensors(), strict=True):
        graph.tree = block.clone()
    return list(graphs)


def random_batch(seed: int = 0, num_graphs: int = 4, **options: Any) -> Batch:
    """A batch of graphs of 8 to 15 nodes, with trees of height 3."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(8, 16, num_graphs).tolist()
    graphs = [random_graph(size, seed + i, **options) for i, size in enumerate(sizes)]
    return Batch.from_data_list(add_trees(graphs, [(n, n // 2, n // 4, 1) for n in sizes], seed))


def is_symmetric(data: Data) -> bool:
    matrix = dense_adjacency(data)
    return torch.equal(matrix, matrix.t())


def dense_adjacency(data: Data) -> Tensor:
    """``A[i, j]`` is the weight of the edge from ``i`` to ``j``."""
    weight = data.edge_weight if "edge_weight" in data else torch.ones(data.num_edges)
    matrix = torch.zeros(data.num_nodes, data.num_nodes, dtype=torch.float64)
    return matrix.index_put_(tuple(data.edge_index), weight.double(), accumulate=True)


def dense_assignment(levels, level: int) -> Tensor:
    """``S`` of the paper: one row a cluster."""
    clusters = levels.num_clusters(level)
    return torch.nn.functional.one_hot(levels.assignment(level), clusters).t().double()


def gradients(loss: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, inputs, allow_unused=True, materialize_grads=True)
