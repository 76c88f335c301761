"""What all node classifiers share: the graph as they see it, and the first layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.pyg.hierarchy import SYMMETRIC
from sepool_experiments.layers.adjacency import Adjacency, sparse_product
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.segments import pool_sum, unpool


class Sparse(NamedTuple):
    """A matrix by its nonzero entries, row by row, and their order column by column."""

    ptr: Tensor
    row: Tensor
    col: Tensor
    value: Tensor
    col_ptr: Tensor
    order: Tensor
    t_row: Tensor
    t_value: Tensor

    @classmethod
    def of(cls, x: Tensor) -> Sparse:
        """The entries of a matrix."""
        row, col = x.nonzero(as_tuple=True)
        by_column, order = col.sort(stable=True)
        csr, value = torch._convert_indices_from_coo_to_csr, x[row, col]
        ptr, col_ptr = csr(row, len(x)), csr(by_column, x.size(1))
        return cls(ptr, row, col, value, col_ptr, order, row[order], value[order])

    def matmul(self, dense: Tensor) -> Tensor:
        """The product with a table, one row a column of this matrix; for rows of any shape."""
        transpose = self.col_ptr, self.t_row, self.t_value
        return sparse_product(dense, self.ptr, self.col, self.value, *transpose)

    def matmul_with(self, value: Tensor, dense: Tensor) -> Tensor:
        """The same with other values, which may differ from replica to replica."""
        seen = unpool(dense, self.col_ptr, self.col, self.order) * value
        return pool_sum(seen, self.ptr, self.row)


@dataclass
class NodeGraph:
    """A graph with features, as the models of this folder see it.

    Attributes:
        x: the features, one row a node.
        sparse: the same by its nonzero entries.
        adjacency: ``D^-1/2 (A + I) D^-1/2``, with an entry for every loop.
        plain: ``A``, without loops or weights.
    """

    x: Tensor
    sparse: Sparse
    adjacency: Adjacency
    plain: Adjacency

    @classmethod
    def of(cls, data: Data) -> NodeGraph:
        """The graph of a PyG ``Data`` that is undirected and has no loops."""
        edges, nodes = data.edge_index, torch.arange(len(data.x), device=data.x.device)
        looped = torch.cat([edges, torch.stack([nodes, nodes])], 1)
        a = Adjacency.from_edges(looped, None, len(nodes), SYMMETRIC)
        scale = a.degree().rsqrt()
        weight = scale.index_select(0, a.row) * scale.index_select(0, a.index)
        plain = Adjacency.from_edges(edges, None, len(nodes), SYMMETRIC)
        return cls(data.x, Sparse.of(data.x), a.weighted(weight), plain)

    def smooth(self, x: Tensor, times: int = 1) -> Tensor:
        """``D^-1/2 (A + I) D^-1/2`` to a power, times ``x``."""
        for _ in range(times):
            x = self.adjacency.propagate(x)
        return x


class NodeModel(nn.Module, ABC):
    """A node classifier that may hold replicas.

    `prepare` computes what depends on no weights, once; `forward` takes its result. All models take
    the width of the features, that of the hidden layers (a head or power) and the number of
    classes, the rates of dropout, and the number of replicas, None for a single model.

    Attributes:
        decayed: which parameters, by the beginning of their names, have the weight decay of the
            configuration where the rest has another (``decay_rest``).
        capturable: whether a step of training can be recorded as a CUDA graph.
    """

    decayed: tuple[str, ...] = ("first",)
    capturable = True

    def __init__(self, replicas: int | None = None) -> None:
        super().__init__()
        self.replicas = replicas

    def prepare(self, data: Data) -> Any:
        """What the model needs of a graph."""
        return NodeGraph.of(data)

    @abstractmethod
    def forward(self, graph: Any) -> Tensor:
        """Return the logits of all nodes, ``(N, classes)`` or ``(N, R, classes)``."""

    def linear(self, before: int, after: int, bias: bool = True) -> Linear:
        """A linear layer of all replicas."""
        return Linear(before, after, bias, replicas=self.replicas)

    def shared(self, x: Tensor) -> Tensor:
        """Features that all replicas see."""
        return x if self.replicas is None else x.unsqueeze(1)


class InputLinear(Linear):
    """``dropout(X) W`` and later ``+ b``, for sparse features ``X`` that all replicas share.

    Dropping a zero changes nothing, so that only the nonzero entries are drawn.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        rate: float = 0.0,
        *,
        bias: bool = True,
        salt: int = 100,
        replicas: int | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, bias, replicas)
        self.drop = Dropout(rate, salt, "input_dropout")

    def sparse_product(self, x: Sparse) -> Tensor:
        """``dropout(X) W``."""
        return sparse_linear(self, x, self.drop)


def sparse_linear(layer: Linear, x: Sparse, drop: Dropout | None = None) -> Tensor:
    """Return ``dropout(X) W`` without the bias, for features shared by all replicas."""
    weight = layer.weight  # one row a feature, or for replicas one table a feature
    table = weight if weight.dim() == 2 else weight.transpose(0, 1).contiguous()
    if drop is None or not drop.training or (not isinstance(drop.rate, Tensor) and not drop.rate):
        return x.matmul(table)
    value = x.value.view(-1, *[1] * (weight.dim() - 1))
    if weight.dim() == 3:
        value = value.expand(-1, len(weight), -1)
    return x.matmul_with(drop(value), table)
