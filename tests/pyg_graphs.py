"""PyG graphs for the tests, and dense formulas to compare with."""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from tests import shapes
from torch import Tensor
from torch_geometric.data import Data


def as_data(edges: shapes.Edges, num_nodes: int, **more) -> Data:
    """A graph with every edge in both directions, sorted by row, as PyG's datasets have them."""
    pairs = sorted({pair for u, v in edges for pair in ((u, v), (v, u))})
    index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t().contiguous()
    return Data(edge_index=index, num_nodes=num_nodes, **more)


def molecules(count: int, **more) -> list[Data]:
    """Graphs of several sizes with features and labels."""
    graphs = []
    for seed in range(count):
        n = 5 + seed % 17
        x = torch.eye(4)[torch.arange(n) % 4]
        y = torch.tensor([seed % 2])
        graphs.append(as_data(shapes.molecule(n, seed), n, x=x, y=y, **more))
    return graphs


def degenerate_graphs() -> list[Data]:
    """Isolated nodes, no edges, self-loops, repeated edges, edges in any order."""
    loops = torch.tensor([[0, 0, 1, 2, 2], [0, 1, 0, 2, 2]])
    twice = torch.tensor([[0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 2, 1]])
    shuffled = as_data(shapes.ring(6), 6)
    shuffled.edge_index = shuffled.edge_index.flip(1)
    return [
        as_data([], 1),
        as_data([], 4),
        as_data([(0, 1)], 5),
        Data(edge_index=loops, num_nodes=3),
        Data(edge_index=twice, num_nodes=3),
        shuffled,
        as_data([(0, 1), (2, 3), (4, 5), (6, 7)], 8),
    ]


@st.composite
def data(draw, weighted: bool | None = None) -> Data:
    """Any graph with edges in both directions: self-loops, repeats and zero weights occur."""
    n, edges = draw(shapes.graphs())
    both = [pair for u, v, _ in edges for pair in ((u, v), (v, u))]
    index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t().contiguous()
    graph = Data(edge_index=index, num_nodes=n)
    if draw(st.booleans()) if weighted is None else weighted:
        weights = [w for *_, w in edges for _ in range(2)]
        graph.edge_weight = torch.tensor(weights, dtype=torch.float)
    return graph


def dense(index: Tensor, weight: Tensor | None, n: int) -> Tensor:
    """The adjacency matrix; equal edges add up."""
    weight = torch.ones(index.size(1)) if weight is None else weight
    matrix = torch.zeros(n, n, dtype=torch.double)
    return matrix.index_put((index[0], index[1]), weight.double(), accumulate=True)


def same_data(a: Data, b: Data) -> bool:
    """Test that two graphs have the same attributes, equal in values and types."""
    a, b = a.to_dict(), b.to_dict()
    return a.keys() == b.keys() and all(
        x.dtype == b[key].dtype and torch.equal(x, b[key]) if torch.is_tensor(x) else x == b[key]
        for key, x in a.items()
    )
