"""Chains of linear layers of replicas, fused with ReLU and sums over clusters.

The kernels skip the padding of every replica; see `sepool_experiments.kernels.layer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.kernels.registry import load, use_kernel
from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.linear import Layers, affine_layers
from sepool_experiments.layers.segments import pool_sum, rows_at


def linear_chain(
    x: Features,
    layers: Layers,
    num_valid: Tensor | None = None,
    row_index: Tensor | None = None,
    relu: bool = True,
) -> Tensor:
    """``relu(x W + b)``; the rows of padding are undefined.

    Args:
        x: features of every node, or a table of features, which gets no gradient.
        layers: ``W`` and ``b`` of every layer; ReLU follows all but the last.
        num_valid: number of nodes of every replica without padding, which comes last, if the rows
            are equal parts of replicas.
        row_index: row of the table of every node.
        relu: apply ReLU to the last layer.
    """
    rows = len(x if row_index is None else row_index)
    if num_valid is not None and has_chain_kernel(x, row_index, layers, rows):
        return _chain(x, layers, row_index, None, num_valid, None, relu)
    out = affine_layers(rows_at(x, row_index), layers)
    return out.relu() if relu else out


def pooled_linear_chain(
    x: Features,
    layers: Layers,
    num_valid: Sequence[Tensor],
    ptr: Tensor,
    assignment: Tensor,
    row_index: Tensor | None = None,
    multiplicity: Tensor | None = None,
) -> Tensor:
    """``S relu(x W + b)`` of replicas; arguments as in `linear_chain` and `pool_sum`.

    ``num_valid`` counts the nodes and the clusters of every replica without padding; no cluster has
    both. A row of the table stands for ``multiplicity`` nodes.
    """
    if has_chain_kernel(x, row_index, layers, len(assignment)):
        clusters = load("layer").Clusters(assignment, ptr, num_valid[1])
        return _chain(x, layers, row_index, multiplicity, num_valid[0], clusters, True)
    hidden = affine_layers(rows_at(x, row_index), layers).relu()
    if multiplicity is not None and row_index is not None:
        multiplicity = multiplicity.index_select(0, row_index)
    return pool_sum(hidden, ptr, assignment, row_weight=multiplicity)


def has_chain_kernel(x: Features, row_index: Tensor | None, layers: Layers, rows: int) -> bool:
    """Return True if the kernels take the input: indexed tables, 32-bit offsets in a replica."""
    if layers[0][0].dim() == 2:
        return False
    indexed_table = isinstance(x, FeatureTable) == (row_index is not None)
    widest = max(side for weight, _ in layers for side in weight.shape[1:])
    fits = rows // len(layers[0][0]) * widest < 2**31
    return indexed_table and fits and use_kernel("linear", layers[0][1], rows)


def _chain(
    x: Features,
    layers: Layers,
    row_index: Tensor | None,
    multiplicity: Tensor | None,
    num_valid: Tensor,
    clusters: Any,
    relu: bool,
) -> Tensor:
    table = x if isinstance(x, FeatureTable) else None
    rows, extent = (x, None) if isinstance(x, Tensor) else (x.rows, x.extent)
    args = table, row_index, extent, multiplicity, num_valid, clusters, relu
    out: Tensor = _Chain.apply(rows, *args, *_flat(layers))  # type: ignore[no-untyped-call]
    return out


def _flat(layers: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    return [tensor for layer in layers for tensor in layer]


class _Chain(Function):
    """`linear_chain`, and `pooled_linear_chain` if there are clusters."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *args: Any) -> Tensor:
        *rest, ctx.clusters, ctx.relu = args[:6]
        weights, biases = ([tensor.contiguous() for tensor in args[i::2]] for i in (6, 7))
        ctx.column = None
        if table is not None:
            weights[0] = weights[0].index_select(1, table.feature_of_column)
            ctx.column = table.column_of_feature
        rows = x.contiguous(), *rest
        launch = load("layer")
        out, saved = launch.products(launch.Rows(*rows, ctx.clusters), weights, biases, ctx.relu)
        ctx.save_for_backward(*rows, *weights, *saved)
        return cast("Tensor", out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        rows, layers = ctx.saved_tensors[:5], ctx.saved_tensors[5:]
        weights, saved = layers[: len(layers) // 2], layers[len(layers) // 2 :]
        x_grad, weight_grads, bias_grads = load("layer").gradients(
            load("layer").Rows(*rows, ctx.clusters), weights, saved, grad, ctx.relu,
            ctx.needs_input_grad[0],
        )  # fmt: skip
        if ctx.column is not None:
            weight_grads[0] = weight_grads[0].index_select(1, ctx.column)
        layer_grads = _flat(list(zip(weight_grads, bias_grads, strict=True)))
        return x_grad, *[None] * 7, *layer_grads
