"""Linear layers of many replicas: weights with a leading replica axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from sepool.arguments import one_of, whole_number

INITS = ("glorot", "torch")
Layers = Sequence[tuple[Tensor, Any]]  # weights and biases


def add_rows(x: Tensor, bias: Tensor) -> Tensor:
    """Add a bias to all rows, or the bias of every replica to its rows."""
    if bias.dim() == 1 or x.dim() == 3:
        return x + bias
    return (x.view(len(bias), -1, x.size(1)) + bias.unsqueeze(1)).view_as(x)


def side_by_side(x: Tensor, weight: Tensor) -> Tensor:
    """Return ``x W`` of replicas side by side: ``(N, R, in)`` or shared ``(N, 1, in)``."""
    if x.size(1) == 1:  # one large product
        wide = x.squeeze(1) @ weight.transpose(0, 1).flatten(1)
        return wide.view(len(x), len(weight), weight.size(2))
    return (x.transpose(0, 1) @ weight).transpose(0, 1).contiguous()


def affine(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``x W + b``, single or of replicas (see `Linear`)."""
    if x.dim() == 2 and weight.dim() == 3:
        parts = x.view(len(weight), -1, weight.size(1))
        if bias is None:
            return (parts @ weight).flatten(0, 1)
        return torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    if x.dim() == 2:
        return x @ weight if bias is None else torch.addmm(bias, x, weight)
    out = x @ weight if weight.dim() == 2 else side_by_side(x, weight)
    return out if bias is None else out + bias


def affine_layers(x: Tensor, layers: Layers) -> Tensor:
    """Apply linear layers, given as weights and biases, with ReLU in between."""
    for i, layer in enumerate(layers):
        x = affine(x.relu() if i else x, *layer)
    return x


class Linear(nn.Module):
    """``x W + b``, single or of replicas.

    With ``replicas=R`` the weight has the shape ``(R, in, out)``. A matrix ``x`` holds the replicas
    one after the other, in equal numbers of rows. An ``x`` of the shape ``(N, R, in)`` holds them
    side by side, for many models on one graph; ``(N, 1, in)`` is shared by all.

    Args:
        in_channels: width of the input.
        out_channels: width of the output.
        bias: add a learnable bias.
        replicas: number of replicas; None for a single layer.
        init: "glorot" (uniform up to the root of 6 / (in + out), biases 0) or "torch" (as in
            `torch.nn.Linear`: uniform up to 1 / root of in, biases too).

    Example:
        >>> Linear(3, 5, replicas=2)(torch.ones(8, 3)).shape
        torch.Size([8, 5])
        >>> Linear(3, 5, replicas=2)(torch.ones(8, 1, 3)).shape
        torch.Size([8, 2, 5])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        bias: bool = True,
        replicas: int | None = None,
        init: str = "glorot",
    ) -> None:
        super().__init__()
        self.in_channels = whole_number("in_channels", in_channels, 0)
        self.out_channels = whole_number("out_channels", out_channels, 1)
        if replicas is not None:
            whole_number("replicas", replicas, 1)
        self.init = one_of("init", init, INITS)
        lead = () if replicas is None else (replicas,)
        self.weight = nn.Parameter(torch.empty(*lead, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(*lead, out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        glorot = self.init == "glorot"
        bound = math.sqrt(6 / (self.in_channels + self.out_channels))
        bound = bound if glorot else 1 / math.sqrt(self.in_channels)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
            if not glorot:
                nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x W + b``."""
        return affine(x, self.weight, self.bias)

    def product(self, x: Tensor) -> Tensor:
        """Return ``x W``."""
        return affine(x, self.weight)

    def product_of(self, blocks: Sequence[Tensor]) -> Tensor:
        """Return ``x W`` of an ``x`` given as blocks of columns, without concatenation."""
        rows = torch.split(self.weight, [block.size(-1) for block in blocks], dim=-2)
        parts = zip(blocks, rows, strict=True)
        products = [x @ w if self.weight.dim() == 2 else side_by_side(x, w) for x, w in parts]
        return sum(products[1:], products[0])

    def shift(self, x: Tensor) -> Tensor:
        """Return ``x + b``."""
        return x if self.bias is None else add_rows(x, self.bias)

    def __repr__(self) -> str:
        replicas = "" if self.weight.dim() == 2 else f", replicas={len(self.weight)}"
        bias = "" if self.bias is not None else ", bias=False"
        return f"Linear({self.in_channels}, {self.out_channels}{bias}{replicas})"
