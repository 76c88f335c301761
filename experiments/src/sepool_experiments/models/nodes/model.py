"""Base class, input graph and first layer of the node classifiers."""

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
    """A sparse matrix: its nonzero entries by row, and their order by column."""

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
        """Return the nonzero entries of a matrix."""
        row, col = x.nonzero(as_tuple=True)
        by_column, order = col.sort(stable=True)
        csr, value = torch._convert_indices_from_coo_to_csr, x[row, col]
        ptr, col_ptr = csr(row, len(x)), csr(by_column, x.size(1))
        return cls(ptr, row, col, value, col_ptr, order, row[order], value[order])

    def matmul(self, dense: Tensor) -> Tensor:
        """Multiply with a table, one row a column of this matrix; rows may have any shape."""
        transpose = self.col_ptr, self.t_row, self.t_value
        return sparse_product(dense, self.ptr, self.col, self.value, *transpose)

    def matmul_with(self, value: Tensor, dense: Tensor) -> Tensor:
        """Multiply with other values of the entries, which may differ between replicas."""
        products = unpool(dense, self.col_ptr, self.col, self.order) * value
        return pool_sum(products, self.ptr, self.row)


@dataclass
class NodeGraph:
    """A graph with features, the input of the node classifiers.

    Attributes:
        x: features, one row a node.
        sparse: nonzero entries of ``x``.
        adjacency: ``D^-1/2 (A + I) D^-1/2``, with an entry for every loop.
        plain: ``A``, without loops or weights.
    """

    x: Tensor
    sparse: Sparse
    adjacency: Adjacency
    plain: Adjacency

    @classmethod
    def of(cls, data: Data) -> NodeGraph:
        """Convert an undirected PyG ``Data`` without loops."""
        edges, nodes = data.edge_index, torch.arange(len(data.x), device=data.x.device)
        looped = torch.cat([edges, torch.stack([nodes, nodes])], 1)
        a = Adjacency.from_edges(looped, None, len(nodes), SYMMETRIC)
        scale = a.degree().rsqrt()
        weight = scale.index_select(0, a.row) * scale.index_select(0, a.index)
        plain = Adjacency.from_edges(edges, None, len(nodes), SYMMETRIC)
        return cls(data.x, Sparse.of(data.x), a.weighted(weight), plain)

    def smooth(self, x: Tensor, power: int = 1) -> Tensor:
        """Return ``S^power x`` with ``S = D^-1/2 (A + I) D^-1/2``."""
        for _ in range(power):
            x = self.adjacency.propagate(x)
        return x


class NodeModel(nn.Module, ABC):
    """A node classifier, single or with replicas.

    `prepare` computes the input of `forward`, everything that depends on no weights. The arguments
    of all models are the width of the features, the width of the hidden layers (of a head or
    power), the number of classes, the dropout rates, and the number of replicas, None for a single
    model.

    Attributes:
        decayed: prefixes of the parameters with the weight decay of the configuration if all others
            have ``decay_rest``.
        capturable: a training step can be captured as a CUDA graph.
    """

    decayed: tuple[str, ...] = ("first",)
    capturable = True

    def __init__(self, replicas: int | None = None) -> None:
        super().__init__()
        self.replicas = replicas

    def prepare(self, data: Data) -> Any:
        """Return the input of the model for a graph."""
        return NodeGraph.of(data)

    @abstractmethod
    def forward(self, graph: Any) -> Tensor:
        """Return the logits of all nodes, ``(N, classes)`` or ``(N, R, classes)``."""

    def linear(self, before: int, after: int, bias: bool = True) -> Linear:
        """Return a linear layer of all replicas."""
        return Linear(before, after, bias, replicas=self.replicas)

    def shared(self, x: Tensor) -> Tensor:
        """Return features that all replicas share."""
        return x if self.replicas is None else x.unsqueeze(1)


class InputLinear(Linear):
    """``dropout(X) W``, without the bias, for sparse features ``X`` that all replicas share.

    Dropout is drawn for the nonzero entries alone.
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
        """Return ``dropout(X) W``."""
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
