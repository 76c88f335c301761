"""Linear layers that can hold many replicas: weights with a leading axis, one model a replica."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sepool.arguments import one_of, whole_number

INITS = ("glorot", "torch")


def add_rows(x: Tensor, bias: Tensor) -> Tensor:
    """Adds a row to all rows, or the row of a replica to the rows of that replica."""
    if bias.dim() == 1 or x.dim() == 3:
        return x + bias
    return (x.view(len(bias), -1, x.size(1)) + bias.unsqueeze(1)).view_as(x)


def side_by_side(x: Tensor, weight: Tensor) -> Tensor:
    """``x W`` of many replicas: ``(N, R, in)``, or ``(N, 1, in)`` for all, to ``(N, R, out)``."""
    if x.size(1) == 1:  # one large product
        wide = x.squeeze(1) @ weight.transpose(0, 1).flatten(1)
        return wide.view(len(x), len(weight), weight.size(2))
    return (x.transpose(0, 1) @ weight).transpose(0, 1).contiguous()


def affine(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x W + b``, alone or of many replicas (see `Linear`)."""
    if x.dim() == 2 and weight.dim() == 3:
        parts = x.view(len(weight), -1, weight.size(1))
        if bias is None:
            return (parts @ weight).flatten(0, 1)
        return torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    if x.dim() == 2:
        return x @ weight if bias is None else torch.addmm(bias, x, weight)
    out = x @ weight if weight.dim() == 2 else side_by_side(x, weight)
    return out if bias is None else out + bias


class Linear(nn.Module):
    """``x W + b``, alone or for many replicas at once.

    With ``replicas=R`` the weight has the shape ``(R, in, out)``. The rows of a matrix ``x`` are
    cut into ``R`` equal parts, one a replica: the same as ``R`` layers, each on its own part. An
    ``x`` of the shape ``(N, R, in)`` has the replicas side by side, which suits many models on one
    graph; ``(N, 1, in)`` is seen by all.

    Args:
        in_channels: the width of the input.
        out_channels: the width of the output.
        bias: whether something is added.
        replicas: how many replicas; None for one plain layer.
        init: how weights start: "glorot" (uniform, up to the root of 6 / (in + out); biases are 0)
            or "torch" (as in `torch.nn.Linear`: uniform up to 1 / root of in, biases too).

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
        """Draws new weights."""
        glorot = self.init == "glorot"
        bound = math.sqrt(6 / (self.in_channels + self.out_channels))
        bound = bound if glorot else 1 / math.sqrt(self.in_channels)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
            if not glorot:
                nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """One row in, one row out."""
        return affine(x, self.weight, self.bias)

    def product(self, x: Tensor) -> Tensor:
        """``x W`` alone."""
        return affine(x, self.weight)

    def product_of(self, blocks: Sequence[Tensor]) -> Tensor:
        """``x W``, for an ``x`` whose columns come in blocks that need not be joined."""
        rows = torch.split(self.weight, [block.size(-1) for block in blocks], dim=-2)
        parts = zip(blocks, rows, strict=True)
        products = [x @ w if self.weight.dim() == 2 else side_by_side(x, w) for x, w in parts]
        return sum(products[1:], products[0])

    def shift(self, x: Tensor) -> Tensor:
        """``x + b`` alone."""
        return x if self.bias is None else add_rows(x, self.bias)

    def __repr__(self) -> str:
        replicas = "" if self.weight.dim() == 2 else f", replicas={len(self.weight)}"
        bias = "" if self.bias is not None else ", bias=False"
        return f"Linear({self.in_channels}, {self.out_channels}{bias}{replicas})"
