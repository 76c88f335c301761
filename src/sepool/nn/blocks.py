"""Inputs, linear layers and dropout of the models."""

from __future__ import annotations

from collections.abc import Collection

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn.inits import glorot

from sepool.arguments import one_of, whole_number
from sepool.pyg.hierarchy import Hierarchy, hierarchy

INITS = ("glorot", "torch")


def read(
    data: Data, levels: Hierarchy | None, channels: int, pooled: int, height: int
) -> tuple[Tensor, Hierarchy]:
    """Features and hierarchy of a ``Data`` or batch, checked.

    Args:
        data: a graph or batch with coding trees.
        levels: its hierarchy, if it has been read.
        channels: width of the features.
        pooled: highest level that the model pools to.
        height: height of the trees that an error recommends.
    """
    x = features(data, channels)
    levels = hierarchy(data) if levels is None else levels
    if levels.height < pooled:
        raise ValueError(
            f"the model pools to level {pooled}, the trees have height {levels.height}; "
            f"add trees with AddCodingTree(height={height})"
        )
    return x, levels


def features(data: Data, channels: int) -> Tensor:
    """Features of a ``Data`` or batch, checked."""
    if not isinstance(data, Data):
        raise TypeError(f"expected a PyG Data or a batch of them, got {type(data).__name__}")
    x: Tensor | None = data.x
    if x is not None and x.dim() != 2:
        raise ValueError(f"data.x must be a matrix, one row a node, got the shape {tuple(x.shape)}")
    if x is None or x.size(-1) != channels:
        width = None if x is None else x.size(-1)
        raise ValueError(f"the model takes {channels} features a node, got {width}")
    if not x.is_floating_point():
        raise ValueError(f"features must be floating-point numbers, got {x.dtype}: data.x.float()")
    return x


def check_rows(x: Tensor, levels: Hierarchy | None, channels: int, height: int) -> None:
    """Raise where the rows or the width of ``x`` or the height of the trees do not fit a layer."""
    if x.dim() != 2 or x.size(1) != channels:
        raise ValueError(f"x must have the shape (nodes, {channels}), got {tuple(x.shape)}")
    if not x.is_floating_point():
        raise ValueError(f"x must hold floating-point numbers, got {x.dtype}: x.float()")
    if not height:
        return
    if not hasattr(levels, "num_clusters"):
        raise TypeError(f"levels must be what sepool.hierarchy(data) gives, got {type(levels)}")
    assert levels is not None
    if levels.height < height:
        raise ValueError(
            f"the layer goes up to level {height}, the trees have height {levels.height}; "
            f"add trees with AddCodingTree(height={height})"
        )
    if not torch.compiler.is_compiling() and x.size(0) != levels.num_clusters(0):
        raise ValueError(
            f"x has {x.size(0)} rows, but the trees have {levels.num_clusters(0)} leaves; "
            "take the hierarchy of the same graphs: sepool.hierarchy(data)"
        )


def head_width(channels: int, heads: int) -> int:
    """Width of a head of attention, which divides the channels."""
    channels, heads = whole_number("channels", channels, 1), whole_number("heads", heads, 1)
    if channels % heads:
        raise ValueError(f"heads must divide channels, got {heads} heads of {channels} channels")
    return channels // heads


def dropout_rate(rate: float) -> float:
    """Rate of dropout, checked; a rate of 1 would leave nothing."""
    if not 0 <= rate < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {rate}")
    return rate


def dropout(rate: float) -> nn.Dropout:
    """Dropout layer."""
    return nn.Dropout(dropout_rate(rate))


def dense(width: int, rate: float = 0.0, norm: bool = False) -> nn.Sequential:
    """Layer after SEP and SEP-U: linear, ReLU, dropout.

    Args:
        width: of input and output.
        rate: of dropout.
        norm: batch normalisation and a second ReLU after the first (the released code).
    """
    layers: list[nn.Module] = [nn.Linear(width, width), nn.ReLU()]
    layers += [nn.BatchNorm1d(width), nn.ReLU()] if norm else []
    return nn.Sequential(*layers, dropout(rate))


def reset(model: nn.Module, init: str = "glorot", foreign: Collection[str] = ()) -> None:
    """Draw new weights for every layer of a model.

    Args:
        model: the model.
        init: "glorot" (linear layers uniform, biases 0) or "torch" (as PyTorch and PyG draw them).
        foreign: children that are a user's own and keep their own initialisation.
    """
    one_of("init", init, INITS)
    for name, child in model.named_children():
        if callable(draw := getattr(child, "reset_parameters", None)):
            draw()
        else:
            reset(child, "torch")
        for module in child.modules() if init == "glorot" and name not in foreign else ():
            if isinstance(module, (nn.Linear, pyg.Linear)):
                glorot(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
