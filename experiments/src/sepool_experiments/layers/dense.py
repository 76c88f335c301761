"""The layer that follows SEP and SEP-U in SEP-N: linear, ReLU, dropout."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.norm import BatchNorm


class Dense(nn.Module):
    """``dropout(ReLU(x W + b))``, one row a node.

    Args:
        in_channels: the width of the input.
        out_channels: the width of the output.
        dropout: the share that is dropped.
        norm: whether batch normalisation and a second ReLU follow the first (the released code).
        salt: a number that no other such layer of the model has (see `Dropout`).
        replicas: how many replicas, side by side (see `Linear`); None for one plain layer.

    Example:
        >>> import torch
        >>> Dense(3, 5)(torch.ones(8, 3)).shape
        torch.Size([8, 5])
        >>> Dense(3, 5, replicas=2)(torch.ones(8, 2, 3)).shape
        torch.Size([8, 2, 5])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dropout: float = 0.0,
        norm: bool = False,
        *,
        salt: int = 0,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels, replicas=replicas)
        self.norm = BatchNorm(out_channels, replicas) if norm else None
        self.drop = Dropout(dropout, salt, "pool_dropout")

    def reset_parameters(self) -> None:
        """Draws new weights."""
        self.linear.reset_parameters()
        if self.norm is not None:
            self.norm.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """One row in, one row out."""
        x = self.linear(x).relu()
        if self.norm is not None:
            x = self.norm(x).relu()
        dropped: Tensor = self.drop(x)
        return dropped
