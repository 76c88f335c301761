"""Convolutions by name, or PyG's own by a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from sepool_experiments.layers.conv_base import Conv
from sepool_experiments.layers.convs import CONVS


def make_conv(
    conv: str | Callable[[int, int], nn.Module], before: int, after: int, replicas: int | None
) -> nn.Module:
    """A convolution by name, or by a function of its two widths."""
    if isinstance(conv, nn.Module) or (not callable(conv) and not isinstance(conv, str)):
        raise TypeError(
            f"conv must be a name ({', '.join(CONVS)}) or a function of two widths, such as the "
            f"class of a PyG convolution, got {conv!r}"
        )
    if not isinstance(conv, str):
        if replicas is not None:
            raise ValueError(
                f"replicas={replicas} needs a convolution by its name: {', '.join(CONVS)}"
            )
        return conv(before, after)
    if conv not in CONVS:
        raise ValueError(
            f"conv must be one of {', '.join(CONVS)} or a PyG convolution, got {conv!r}"
        )
    named: Conv = CONVS[conv](before, after, replicas=replicas)
    return named


def call_conv(conv: nn.Module, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
    """A PyG convolution, with the edge weights where it takes them."""
    takes = "edge_weight" in inspect.signature(conv.forward).parameters
    weight = None if edge_weight is None else edge_weight.to(x.dtype)
    options: dict[str, Any] = {"edge_weight": weight} if takes else {}
    out: Tensor = conv(x, edge_index, **options)
    return out
