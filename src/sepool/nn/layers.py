"""Linear layers of replicas, and the ReLU and the sum over clusters that may follow, in one go.

On a GPU by kernels that know where the padding of a replica begins; see `sepool.nn.layer_kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool.nn.gpu import load_kernels
from sepool.nn.ops import has_kernel, pool_relu, rows_at

kernels = load_kernels("sepool.nn.kernels")
layer_kernels = load_kernels("sepool.nn.layer_kernels")


ALIGNED = 16  # numbers; Triton loads four at a time where it knows that rows are multiples of this


def aligned(table: Tensor) -> Tensor:
    """A table as the kernels like it: a view of one whose rows are longer, by zeros.

    Example:
        >>> aligned(torch.ones(3, 20)).shape, aligned(torch.ones(3, 20)).stride()
        (torch.Size([3, 20]), (32, 1))
    """
    width = table.size(1)
    return F.pad(table, (0, -width % ALIGNED))[:, :width]


def layers_pool(
    x: Tensor,
    layers: Sequence[tuple[Tensor, Tensor]],
    real: Sequence[Tensor],
    ptr: Tensor,
    assignment: Tensor,
    source: Tensor | None = None,
    copies: Tensor | None = None,
) -> Tensor:
    """``S relu(x W + b)`` for replicas, whose nodes are equal parts of the rows.

    Args:
        x: the features of every node, or a table of features, `aligned` or not, which gets no
            gradient.
        layers: ``W`` and ``b``, one matrix and one row a replica; of several, with ReLU between.
        real: how many nodes of every replica are no padding, and how many clusters; padding comes
            behind them, and no cluster holds both.
        ptr: where the members of every cluster begin; they are neighbours.
        assignment: the cluster of every node.
        source: the row of the table that every node has; it is not written down.
        copies: how many nodes each row of the table stands for.
    """
    if has_kernel(layers[0][1], len(assignment)):
        return _by_kernels(x, source, copies, real[0], assignment, (ptr, real[1]), True, layers)
    hidden = _apply(layers, rows_at(x, source))
    if copies is not None and source is not None:
        hidden = hidden * copies.index_select(0, source).unsqueeze(1)
    return pool_relu(hidden, ptr, assignment)


def layers_rows(
    x: Tensor,
    layers: Sequence[tuple[Tensor, Tensor]],
    real: Tensor,
    source: Tensor | None = None,
    relu: bool = True,
) -> Tensor:
    """``relu(x W + b)`` for replicas, or that without the last ReLU; arguments as in `layers_pool`.

    But ``real`` is of the nodes alone. What padding gets is not said.
    """
    if has_kernel(layers[0][1], len(x if source is None else source)):
        return _by_kernels(x, source, None, real, None, None, relu, layers)
    out = _apply(layers, rows_at(x, source))
    return out.relu() if relu else out


def _apply(layers: Sequence[tuple[Tensor, Tensor]], x: Tensor) -> Tensor:
    for i, (weight, bias) in enumerate(layers):
        parts = (x.relu() if i else x).view(len(weight), -1, weight.size(1))
        x = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    return x


def _by_kernels(*given: Any) -> Tensor:
    *rows, layers = given
    out: Tensor = _Layers.apply(  # type: ignore[no-untyped-call]
        *rows, *[tensor for layer in layers for tensor in layer]
    )
    return out


def _is_aligned(x: Tensor, source: Tensor | None) -> bool:
    """Whether it is what `aligned` made of a table."""
    step = (-(-x.size(1) // ALIGNED) * ALIGNED, 1)
    return source is not None and x.stride() == step and x.storage_offset() == 0


class _Layers(Function):
    """Layers, with ReLU or without the last one, summed to clusters where there are any."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *given: Any) -> Tensor:
        x = x if _is_aligned(x, given[0]) else x.contiguous()
        rows, (clusters, ctx.relu) = (x, *given[:4]), given[4:6]
        layers = [tensor.contiguous() for tensor in given[6:]]
        weights, biases = layers[::2], layers[1::2]
        found = layer_kernels.products(layer_kernels.Rows(*rows), weights, biases, ctx.relu)
        ctx.save_for_backward(*rows, *weights, *found)
        out: Tensor = found[-1]
        if clusters is not None:
            ptr, real = clusters
            out = kernels.sum_rows(out, ptr, relu=True, real=real)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        rows, rest = ctx.saved_tensors[:5], ctx.saved_tensors[5:]
        weights, found = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        to_x, *pairs = layer_kernels.gradients(
            layer_kernels.Rows(*rows), weights, found, grad, ctx.relu, ctx.needs_input_grad[0]
        )
        to_layers = [tensor for pair in zip(*pairs, strict=True) for tensor in pair]
        return to_x, *[None] * 6, *to_layers
