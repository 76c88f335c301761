"""The convolutions of the paper's tables, single or of replicas.

Each computes what PyG's layer computes with its default options, reproducible bit for bit.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import AggregatingConv, Operator
from sepool_experiments.layers.gat import GAT
from sepool_experiments.layers.linear import Layers, Linear
from sepool_experiments.layers.segments import as_factor, scalar_segment_sum


class GCN(AggregatingConv):
    """Kipf and Welling, "Semi-supervised classification with graph convolutional networks", 2017.

    ``D^-1/2 (A + I) D^-1/2 X W + b``; a node with a loop gets no second one.
    """

    node_term_is_loop = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Operator:
        """Return the normalised adjacency and the weight of every node's loop."""
        loops = (a.row == a.index).to(torch.get_default_dtype())
        loop = (scalar_segment_sum(loops, a.ptr) == 0).to(loops.dtype)
        scale = (a.degree() + loop).clamp(min=1e-12).rsqrt()
        weight = scale.index_select(0, a.row) * scale.index_select(0, a.index)
        if a.weight is not None:
            weight = weight * a.weight
        return Operator(a.weighted(weight), (loop * scale * scale).unsqueeze(1))

    def aggregate(self, x: Tensor, operator: Operator) -> Tensor:
        """Return ``D^-1/2 (A + I) D^-1/2 X``."""
        return propagate_with_loops(x, operator)

    def layers(self) -> Layers:
        """Return ``W`` and ``b``."""
        return [(self.linear.weight, self.linear.bias)]

    def forward(self, x: Tensor, operator: Operator) -> Tensor:
        """Return the new features; propagates the narrower of input and output."""
        if self.linear.in_channels <= self.linear.out_channels:
            return self.update(self.aggregate(x, operator))
        return self.linear.shift(self.aggregate(self.linear.product(x), operator))


def propagate_with_loops(x: Tensor, operator: Operator) -> Tensor:
    """Return ``A x + t x`` with node term ``t``; without ``t`` loops are entries of ``A``."""
    out = operator.adjacency.propagate(x)
    return out if operator.node_term is None else out + as_factor(operator.node_term, x) * x


class GIN(AggregatingConv):
    """Xu et al., "How powerful are graph neural networks?", 2019: ``MLP(X + A X)``.

    The perceptron has two layers of the output's width with ReLU in between.
    """

    torch_init = True
    node_term_is_loop = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.first = Linear(in_channels, out_channels, replicas=replicas)
        self.second = Linear(out_channels, out_channels, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Operator:
        """Return the adjacency and loops of weight 1."""
        return Operator(a, torch.ones(a.num_nodes, 1, device=a.ptr.device))

    def aggregate(self, x: Tensor, operator: Operator) -> Tensor:
        """Return ``X + A X``."""
        return propagate_with_loops(x, operator)

    def layers(self) -> Layers:
        """Return weights and biases of both layers."""
        return [(layer.weight, layer.bias) for layer in (self.first, self.second)]


class SAGE(AggregatingConv):
    """Hamilton et al., "Inductive representation learning on large graphs", 2017.

    ``mean of the neighbours W_1 + X W_2 + b``, the mean weighted by the edges.
    """

    torch_init = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.neighbours = Linear(in_channels, out_channels, replicas=replicas)
        self.root = Linear(in_channels, out_channels, bias=False, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Operator:
        """Return the adjacency and the inverse degree of every node."""
        return Operator(a, a.degree().clamp(min=1e-12).reciprocal().unsqueeze(1))

    def aggregate(self, x: Tensor, operator: Operator) -> Tensor:
        """Return ``[mean of the neighbours, X]``."""
        assert operator.node_term is not None
        mean = as_factor(operator.node_term, x) * operator.adjacency.propagate(x)
        return torch.cat([mean, x], -1)

    def layers(self) -> Layers:
        """Return ``[W_1; W_2]`` and ``b`` of ``X_1 W_1 + X_2 W_2 + b`` as one product."""
        weights = self.neighbours.weight, self.root.weight
        return [(torch.cat(weights, -2), self.neighbours.bias)]


class Cheb(AggregatingConv):
    """Defferrard et al., "Convolutional neural networks on graphs", 2016, with ``K = 2``.

    ``X W_1 - D^-1/2 A D^-1/2 X W_2 + b``: the scaled Laplacian with largest eigenvalue 2, of the
    adjacency without loops.
    """

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.root = Linear(in_channels, out_channels, replicas=replicas)
        self.laplacian = Linear(in_channels, out_channels, bias=False, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Operator:
        """Return the off-diagonal part of the Laplacian."""
        not_loop = (a.row != a.index).to(torch.get_default_dtype())
        weight = not_loop if a.weight is None else not_loop * a.weight
        ptr, _, order = (a.ptr, None, None) if a.symmetric else a.transpose()
        # PyG counts the edges that leave a node.
        degree = scalar_segment_sum(weight if order is None else weight[order], ptr)
        scale = torch.where(degree > 0, degree.clamp(min=1e-12).rsqrt(), 0)
        weight = -scale.index_select(0, a.row) * scale.index_select(0, a.index) * weight
        return Operator(a.weighted(weight))

    def aggregate(self, x: Tensor, operator: Operator) -> Tensor:
        """Return ``[X, L X]``."""
        return torch.cat([x, operator.adjacency.propagate(x)], -1)

    def layers(self) -> Layers:
        """Return ``[W_1; W_2]`` and ``b`` of ``X_1 W_1 + X_2 W_2 + b`` as one product."""
        return [(torch.cat([self.root.weight, self.laplacian.weight], -2), self.root.bias)]


CONVS: dict[str, Any] = {
    "GCN": GCN,
    "GIN": GIN,
    "GAT": GAT,
    "ChebNet": Cheb,
    "GraphSAGE": SAGE,
}
