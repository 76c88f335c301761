"""GIN: three isomorphism layers with batch normalisation and the sum of the nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool.baselines.model import LAYERS, GraphModel, real_graphs
from sepool.nn import convs
from sepool.nn.prepared import PreparedBatch

EPSILON, MOMENTUM = 1e-5, 0.1


class GIN(GraphModel):
    """Xu et al., "How powerful are graph neural networks?", 2019.

    ``MLP(X + A X)`` with batch normalisation and ReLU after both layers of the perceptron; the sums
    over the nodes after every layer, side by side. Arguments as in
    `sepool.baselines.model.GraphModel`.
    """

    def make(self) -> int:
        """Three layers with two normalisations each."""
        widths = [self.in_channels] + [self.hidden] * (LAYERS - 1)
        replicas = self.replicas
        self.convs = nn.ModuleList(convs.GIN(w, self.hidden, replicas=replicas) for w in widths)
        self.norms = nn.ModuleList(NodeNorm(self.hidden, replicas) for _ in range(2 * LAYERS))
        return LAYERS * self.hidden

    def embed(self, batch: PreparedBatch) -> Tensor:
        """The sums after every layer."""
        real = real_graphs(batch).flatten().index_select(0, batch.levels.batch(0))
        x, found = batch.x, []
        for i, conv in enumerate(self.convs):
            assert isinstance(conv, convs.GIN)
            if i or not batch.gathered:
                x = conv.gather(x, batch.prepared[0])
            x = self.norms[2 * i](conv.first(x), real).relu()
            x = self.norms[2 * i + 1](conv.second(x), real).relu()
            found.append(self.read(x, batch))
        return torch.cat(found, 1)


class NodeNorm(nn.Module):
    """`torch.nn.BatchNorm1d` over the nodes of every replica, padding left out.

    Args:
        width: the number of features.
        replicas: how many replicas, whose nodes are equal parts of the rows; None for one.

    Example:
        >>> norm = NodeNorm(1)
        >>> x, real = torch.tensor([[1.0], [3.0], [99.0]]), torch.tensor([True, True, False])
        >>> norm(x, real)[:2].detach().round().flatten().tolist()
        [-1.0, 1.0]
    """

    mean: Tensor
    var: Tensor

    def __init__(self, width: int, replicas: int | None = None) -> None:
        super().__init__()
        shape = (width,) if replicas is None else (replicas, width)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """Normalises by the nodes at hand in training, by those seen in training otherwise."""
        width = x.size(1)
        weight, bias, mean, var = (
            t.view(-1, 1, width) for t in (self.weight, self.bias, self.mean, self.var)
        )
        parts = x.view(len(weight), -1, width)
        if self.training:
            counts = real.view(len(weight), -1, 1).to(x.dtype)
            total = counts.sum(1, keepdim=True).clamp(min=1)
            seen_mean, seen_var = mean, var
            mean = (parts * counts).sum(1, keepdim=True) / total
            var = ((parts - mean).square() * counts).sum(1, keepdim=True) / total
            with torch.no_grad():
                seen_mean.lerp_(mean, MOMENTUM)
                seen_var.lerp_(var * total / (total - 1).clamp(min=1), MOMENTUM)
        return ((parts - mean) * (var + EPSILON).rsqrt() * weight + bias).view_as(x)
