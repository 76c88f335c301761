"""Linear layers of replicas, and the ReLU and the sum over clusters that may follow, in one go.

On a GPU by kernels that know where the padding of a replica begins; see `sepool.nn.layer_kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import Function

from sepool.nn.feature_table import Features, FeatureTable
from sepool.nn.gpu import load_kernels
from sepool.nn.ops import has_kernel, pool_relu, rows_at

layer_kernels = load_kernels("sepool.nn.layer_kernels")


def layers_pool(
    x: Features,
    layers: Sequence[tuple[Tensor, Tensor]],
    real: Sequence[Tensor],
    ptr: Tensor,
    assignment: Tensor,
    source: Tensor | None = None,
    copies: Tensor | None = None,
) -> Tensor:
    """``S relu(x W + b)`` for replicas, whose nodes are equal parts of the rows.

    Args:
        x: the features of every node, or a table of features, which gets no gradient.
        layers: ``W`` and ``b``, one matrix and one row a replica; of several, with ReLU between.
        real: how many nodes of every replica are no padding, and how many clusters; padding comes
            behind them, and no cluster holds both.
        ptr: where the members of every cluster begin; they are neighbours.
        assignment: the cluster of every node.
        source: the row of the table that every node has; it is not written down.
        copies: how many nodes each row of the table stands for.
    """
    if copies is not None and source is None:
        raise ValueError("copies are of the rows of a table, which nodes have by their source")
    if _has_kernel(x, source, layers, len(assignment)):
        clusters = layer_kernels.Clusters(assignment, ptr, real[1])
        return _by_kernels(x, source, copies, real[0], clusters, True, layers)
    hidden = _apply(layers, rows_at(x, source))
    times = None if copies is None or source is None else copies.index_select(0, source)
    return pool_relu(hidden, ptr, assignment, times=times)


def layers_rows(
    x: Features,
    layers: Sequence[tuple[Tensor, Tensor]],
    real: Tensor,
    source: Tensor | None = None,
    relu: bool = True,
) -> Tensor:
    """``relu(x W + b)`` for replicas, or that without the last ReLU; arguments as in `layers_pool`.

    But ``real`` is of the nodes alone. What padding gets is not said.
    """
    if _has_kernel(x, source, layers, len(x if source is None else source)):
        return _by_kernels(x, source, None, real, None, relu, layers)
    out = _apply(layers, rows_at(x, source))
    return out.relu() if relu else out


def _apply(layers: Sequence[tuple[Tensor, Tensor]], x: Tensor) -> Tensor:
    for i, (weight, bias) in enumerate(layers):
        parts = (x.relu() if i else x).view(len(weight), -1, weight.size(1))
        x = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    return x


def _has_kernel(
    x: Features, source: Tensor | None, layers: Sequence[tuple[Tensor, Tensor]], rows: int
) -> bool:
    """Rows are gathered from tables alone, and those of a replica are counted in 32 bits."""
    known = isinstance(x, FeatureTable) == (source is not None)
    widest = max(side for weight, _ in layers for side in weight.shape[1:])
    few = rows // len(layers[0][0]) * widest < 2**31
    return known and few and has_kernel(layers[0][1], rows)


def _by_kernels(
    x: Features,
    source: Tensor | None,
    copies: Tensor | None,
    real: Tensor,
    clusters: Any,
    relu: bool,
    layers: Sequence[tuple[Tensor, Tensor]],
) -> Tensor:
    rows, reach, order = x, None, None
    if isinstance(x, FeatureTable):
        rows, reach, order = x.rows, x.reach, (x.feature, x.column)
    flat = [tensor for layer in layers for tensor in layer]
    out: Tensor = _Layers.apply(  # type: ignore[no-untyped-call]
        rows, source, reach, copies, real, clusters, order, relu, *flat
    )
    return out


class _Layers(Function):
    """Layers, with ReLU or without the last one, summed to clusters where there are any."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *given: Any) -> Tensor:
        *rest, clusters, order, ctx.relu = given[:7]
        weights = [weight.contiguous() for weight in given[7::2]]
        biases = [bias.contiguous() for bias in given[8::2]]
        ctx.column = None
        if order is not None:
            feature, ctx.column = order
            weights[0] = weights[0].index_select(1, feature)
        rows = (x.contiguous(), *rest)
        out, kept = layer_kernels.products(
            layer_kernels.Rows(*rows, clusters), weights, biases, ctx.relu
        )
        ctx.clusters = clusters
        ctx.save_for_backward(*rows, *weights, *kept)
        return cast("Tensor", out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        rows, rest = ctx.saved_tensors[:5], ctx.saved_tensors[5:]
        weights, kept = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        given = layer_kernels.Rows(*rows, ctx.clusters)
        to_x, to_weights, to_biases = layer_kernels.gradients(
            given, weights, kept, grad, ctx.relu, ctx.needs_input_grad[0]
        )
        if ctx.column is not None:
            to_weights[0] = to_weights[0].index_select(1, ctx.column)
        pairs = zip(to_weights, to_biases, strict=True)
        return to_x, *[None] * 7, *[tensor for pair in pairs for tensor in pair]
