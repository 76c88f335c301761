"""The convolutions of the paper's tables, over an `Adjacency`, alone or as replicas.

Each computes what PyG's layer of that name computes with its default options (the tests compare
them, gradients included); unlike it, each is reproducible on a GPU bit for bit, and can hold the
weights of many replicas.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.concat_neighbors import beside
from sepool_experiments.layers.conv_base import GatheringConv, Prepared
from sepool_experiments.layers.gat import GAT
from sepool_experiments.layers.linear import Linear, affine
from sepool_experiments.layers.ops import row_sums, rows_like


class GCN(GatheringConv):
    """Kipf and Welling, "Semi-supervised classification with graph convolutional networks", 2017.

    ``D^-1/2 (A + I) D^-1/2 X W + b``; a node that has a loop already gets no second one.
    """

    node_is_loop = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Prepared:
        """The normalised adjacency, and the weight of every node's own loop."""
        loop = _without_loop(a)
        scale = (a.degree() + loop).clamp(min=1e-12).rsqrt()
        weight = scale.index_select(0, a.row) * scale.index_select(0, a.index)
        if a.weight is not None:
            weight = weight * a.weight
        return Prepared(a.weighted(weight), (loop * scale * scale).unsqueeze(1))

    def gather(self, x: Tensor, prepared: Prepared) -> Tensor:
        """``D^-1/2 (A + I) D^-1/2 X``; loops are entries of the adjacency where `node` is None."""
        return average(x, prepared)

    def combine(self, gathered: Tensor) -> Tensor:
        """``X W + b``."""
        out: Tensor = self.linear(gathered)
        return out

    def layers(self) -> list[tuple[Tensor, Tensor | None]]:
        """``W`` and ``b``."""
        return [(self.linear.weight, self.linear.bias)]

    def forward(self, x: Tensor, prepared: Prepared) -> Tensor:
        """The new features; of input and output, the narrower is propagated."""
        if self.linear.in_channels <= self.linear.out_channels:
            return self.combine(self.gather(x, prepared))
        return self.linear.shift(self.gather(self.linear.product(x), prepared))


def average(x: Tensor, prepared: Prepared) -> Tensor:
    """What nodes gather with their loops: ``D^-1/2 (A + I) D^-1/2 x`` where `GCN` prepared it."""
    gathered = prepared.adjacency.propagate(x)
    return gathered if prepared.node is None else gathered + rows_like(prepared.node, x) * x


class GIN(GatheringConv):
    """Xu et al., "How powerful are graph neural networks?", 2019: ``MLP(X + A X)``.

    The perceptron has two layers with a ReLU between them, as wide as the output.
    """

    as_torch = True
    node_is_loop = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.first = Linear(in_channels, out_channels, replicas=replicas)
        self.second = Linear(out_channels, out_channels, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Prepared:
        """The adjacency, and loops of weight 1."""
        return Prepared(a, torch.ones(a.num_nodes, 1, device=a.ptr.device))

    def gather(self, x: Tensor, prepared: Prepared) -> Tensor:
        """``X + A X``; loops are entries of the adjacency where `node` is None."""
        return average(x, prepared)

    def combine(self, gathered: Tensor) -> Tensor:
        """The perceptron."""
        out: Tensor = self.second(self.first(gathered).relu())
        return out

    def layers(self) -> list[tuple[Tensor, Tensor | None]]:
        """Both."""
        return [(layer.weight, layer.bias) for layer in (self.first, self.second)]


class SAGE(GatheringConv):
    """Hamilton et al., "Inductive representation learning on large graphs", 2017.

    ``mean of the neighbours W_1 + X W_2 + b``, the mean weighted by the edges.
    """

    as_torch = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.neighbours = Linear(in_channels, out_channels, replicas=replicas)
        self.root = Linear(in_channels, out_channels, bias=False, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Prepared:
        """The adjacency, and what turns its sums into means."""
        return Prepared(a, a.degree().clamp(min=1e-12).reciprocal().unsqueeze(1))

    def gather(self, x: Tensor, prepared: Prepared) -> Tensor:
        """The mean of the neighbours, and the node itself."""
        return beside(prepared.adjacency, x, prepared.node, first=True)

    def combine(self, gathered: Tensor) -> Tensor:
        """``X_1 W_1 + X_2 W_2 + b``, as one product."""
        return affine(gathered, *self.layers()[0])

    def layers(self) -> list[tuple[Tensor, Tensor | None]]:
        """``W_1`` above ``W_2``, and ``b``."""
        weights = self.neighbours.weight, self.root.weight
        return [(torch.cat(weights, -2), self.neighbours.bias)]


class Cheb(GatheringConv):
    """Defferrard et al., "Convolutional neural networks on graphs", 2016, with ``K = 2``.

    ``X W_1 - D^-1/2 A D^-1/2 X W_2 + b``: the scaled Laplacian, its largest eigenvalue taken as 2,
    of the adjacency without loops.
    """

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.root = Linear(in_channels, out_channels, replicas=replicas)
        self.laplacian = Linear(in_channels, out_channels, bias=False, replicas=replicas)

    @staticmethod
    def prepare(a: Adjacency) -> Prepared:
        """The Laplacian's part off the diagonal."""
        apart = (a.row != a.index).to(torch.get_default_dtype())
        weight = apart if a.weight is None else apart * a.weight
        turned = a.transpose() if not a.symmetric else (a.ptr, None, None)
        ptr, _, order = turned  # PyG counts the edges that leave a node
        degree = row_sums(weight if order is None else weight[order], ptr)
        scale = torch.where(degree > 0, degree.clamp(min=1e-12).rsqrt(), 0)
        weight = -scale.index_select(0, a.row) * scale.index_select(0, a.index) * weight
        return Prepared(a.weighted(weight))

    def gather(self, x: Tensor, prepared: Prepared) -> Tensor:
        """The node itself, and what the Laplacian makes of it."""
        return beside(prepared.adjacency, x)

    def combine(self, gathered: Tensor) -> Tensor:
        """``X_1 W_1 + X_2 W_2 + b``, as one product."""
        return affine(gathered, *self.layers()[0])

    def layers(self) -> list[tuple[Tensor, Tensor | None]]:
        """``W_1`` above ``W_2``, and ``b``."""
        return [(torch.cat([self.root.weight, self.laplacian.weight], -2), self.root.bias)]


def _without_loop(a: Adjacency) -> Tensor:
    """1 for every node that has no loop, else 0."""
    loops = (a.row == a.index).to(torch.get_default_dtype())
    return (row_sums(loops, a.ptr) == 0).to(loops.dtype)


CONVS: dict[str, Any] = {
    "GCN": GCN,
    "GIN": GIN,
    "GAT": GAT,
    "ChebNet": Cheb,
    "GraphSAGE": SAGE,
}
