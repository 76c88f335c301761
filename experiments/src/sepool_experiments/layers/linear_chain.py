"""Chains of linear layers of replicas, fused with normalisation, ReLU and sums over clusters.

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
from sepool_experiments.layers.norm import EPSILON, MOMENTUM, NodeNorm
from sepool_experiments.layers.segments import pool_relu, rows_at

Layers = Sequence[tuple[Tensor, Tensor]]  # weights and biases with a leading replica axis


def linear_chain(
    x: Features,
    layers: Layers,
    num_valid: Tensor,
    row_index: Tensor | None = None,
    relu: bool = True,
) -> Tensor:
    """``relu(x W + b)`` of replicas, whose nodes are equal parts of the rows.

    The rows of padding are undefined.

    Args:
        x: features of every node, or a table of features, which gets no gradient.
        layers: ``W`` and ``b`` of every layer; ReLU follows all but the last.
        num_valid: number of nodes of every replica without padding, which comes last.
        row_index: row of the table of every node.
        relu: apply ReLU to the last layer.
    """
    if has_chain_kernel(x, row_index, layers, len(x if row_index is None else row_index)):
        args = *_table_args(x, row_index), None, num_valid, None, relu
        out: Tensor = _Chain.apply(*args, *_flat(layers))  # type: ignore[no-untyped-call]
        return out
    out = _forward(layers, rows_at(x, row_index))
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
    """``S relu(x W + b)`` of replicas; arguments as in `linear_chain`.

    Args:
        x: features.
        layers: weights and biases.
        num_valid: number of nodes and of clusters of every replica without padding; no cluster has
            both nodes and padding.
        ptr: start of the members of every cluster.
        assignment: cluster of every node, ascending.
        row_index: row of the table of every node.
        multiplicity: number of nodes that each row of the table stands for.
    """
    if multiplicity is not None and row_index is None:
        raise ValueError("multiplicity is one value a row of a table; expected a row_index")
    if has_chain_kernel(x, row_index, layers, len(assignment)):
        clusters = load("layer").Clusters(assignment, ptr, num_valid[1])
        args = *_table_args(x, row_index), multiplicity, num_valid[0], clusters, True
        out: Tensor = _Chain.apply(*args, *_flat(layers))  # type: ignore[no-untyped-call]
        return out
    hidden = _forward(layers, rows_at(x, row_index))
    if multiplicity is not None and row_index is not None:
        multiplicity = multiplicity.index_select(0, row_index)
    return pool_relu(hidden, ptr, assignment, row_weight=multiplicity)


def pooled_norm_chain(
    x: Features,
    layers: Layers,
    norm: NodeNorm,
    row_weight: Tensor,
    num_valid: Tensor,
    ptr: Tensor,
    assignment: Tensor,
    row_index: Tensor | None = None,
) -> Tensor:
    """``S relu(norm(relu(x W + b)))`` of replicas; arguments as in `pooled_linear_chain`.

    ``row_weight`` is the multiplicity of every node, 0 for padding.
    """
    if norm.has_kernel(row_weight) and has_chain_kernel(x, row_index, layers, len(assignment)):
        rows = *_table_args(x, row_index), num_valid, row_weight, ptr, assignment
        out: Tensor = _NormChain.apply(  # type: ignore[no-untyped-call]
            *rows, *norm.by_replica(), *_flat(layers)
        )
        return out
    hidden = norm(linear_chain(x, layers, num_valid, row_index), row_weight)
    return pool_relu(hidden, ptr, assignment, row_weight=row_weight)


def gradient_only_linear(
    x: FeatureTable, layer: tuple[Tensor, Tensor], num_valid: Tensor, row_index: Tensor
) -> Tensor:
    """Return a placeholder for ``x W + b``: without values, with the gradient of the layer.

    For callers that take the values from elsewhere.
    """
    out: Tensor = _GradientOnly.apply(  # type: ignore[no-untyped-call]
        *_table_args(x, row_index), None, num_valid, None, False, *layer
    )
    return out


def has_chain_kernel(x: Features, row_index: Tensor | None, layers: Layers, rows: int) -> bool:
    """Return True if the kernels take the input: indexed tables, 32-bit offsets in a replica."""
    indexed_table = isinstance(x, FeatureTable) == (row_index is not None)
    widest = max(side for weight, _ in layers for side in weight.shape[1:])
    fits = rows // len(layers[0][0]) * widest < 2**31
    return indexed_table and fits and use_kernel("linear", layers[0][1], rows)


def _forward(layers: Layers, x: Tensor) -> Tensor:
    for i, (weight, bias) in enumerate(layers):
        parts = (x.relu() if i else x).view(len(weight), -1, weight.size(1))
        x = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    return x


def _table_args(x: Features, row_index: Tensor | None) -> tuple[Any, ...]:
    """Features, their table, the row of every node and the extent of every row."""
    if isinstance(x, FeatureTable):
        return x.rows, x, row_index, x.extent
    return x, None, row_index, None


def _flat(layers: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    return [tensor for layer in layers for tensor in layer]


class _Chain(Function):
    """`linear_chain`, and `pooled_linear_chain` if there are clusters."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *args: Any) -> Tensor:
        *rest, ctx.clusters, ctx.relu = args[:6]
        weights, biases, ctx.column, ctx.exact = _table_order(table, args[6:])
        rows, launch = (x.contiguous(), *rest), load("layer")
        inputs = launch.Rows(*rows, ctx.clusters, ctx.exact)
        out, saved = launch.products(inputs, weights, biases, ctx.relu)
        ctx.save_for_backward(*rows, *weights, *saved)
        return cast("Tensor", out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        rows, weights, saved = _split_saved(ctx.saved_tensors, 5)
        inputs = load("layer").Rows(*rows, ctx.clusters, ctx.exact)
        x_grad, *layer_grads = _gradients(ctx, inputs, weights, saved, grad, ctx.relu)
        return x_grad, *[None] * 7, *layer_grads


class _GradientOnly(_Chain):
    """One layer, of which only the gradients are computed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *args: Any) -> Tensor:
        *rest, ctx.clusters, ctx.relu, weight, _bias = args
        assert table is not None
        ctx.column, ctx.exact = table.column_of_feature, table.exact
        placeholder = x.new_empty(1, 1).expand(len(rest[0]), weight.size(2))
        ctx.save_for_backward(x, *rest, weight, placeholder)
        return placeholder


class _NormChain(Function):
    """`pooled_norm_chain`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *args: Any) -> Tensor:
        row_index, extent, num_valid, row_weight, ptr, assignment, *state = args[:10]
        weights, biases, ctx.column, ctx.exact = _table_order(table, args[10:])
        rows, launch = (x.contiguous(), row_index, extent, None, num_valid), load("layer")
        hidden, saved = launch.products(launch.Rows(*rows, None, ctx.exact), weights, biases)
        state = load("norm").State(*state, EPSILON, MOMENTUM)
        out, statistics = load("norm").normalise_pool(hidden, row_weight, state, ptr)
        tensors = row_weight, *state[:2], statistics, assignment
        ctx.save_for_backward(*rows, *tensors, *weights, *saved)
        return cast("Tensor", out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (*rows, row_weight, weight, bias, statistics, assignment), weights, saved = _split_saved(
            ctx.saved_tensors, 10
        )
        hidden_grad, *norm_grads = load("norm").gradient(
            *(saved[-1], grad.contiguous(), row_weight, weight, bias, statistics),
            relu=True, assignment=assignment, input_is_relu=True,
        )  # fmt: skip
        inputs = load("layer").Rows(*rows, None, ctx.exact)
        x_grad, *layer_grads = _gradients(ctx, inputs, weights, saved, hidden_grad, relu=False)
        return x_grad, *[None] * 7, *norm_grads, None, None, *layer_grads


def _table_order(
    table: FeatureTable | None, flat: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], Tensor | None, bool]:
    """Weights in the column order of the table, biases, the inverse order and its exactness."""
    weights = [weight.contiguous() for weight in flat[::2]]
    biases = [bias.contiguous() for bias in flat[1::2]]
    if table is None:
        return weights, biases, None, False
    weights[0] = weights[0].index_select(1, table.feature_of_column)
    return weights, biases, table.column_of_feature, table.exact


def _split_saved(
    saved: Sequence[Any], count: int
) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Split saved tensors into inputs, weights, and as many outputs of layers."""
    middle = (count + len(saved)) // 2
    return saved[:count], saved[count:middle], saved[middle:]


def _gradients(
    ctx: Any, inputs: Any, weights: Sequence[Any], saved: Sequence[Any], grad: Tensor, relu: bool
) -> list[Any]:
    """Gradients of the rows, if needed, and of every weight and bias."""
    x_grad, weight_grads, bias_grads = load("layer").gradients(
        inputs, weights, saved, grad, relu, ctx.needs_input_grad[0]
    )
    if ctx.column is not None:
        weight_grads[0] = weight_grads[0].index_select(1, ctx.column)
    return [x_grad, *_flat(list(zip(weight_grads, bias_grads, strict=True)))]
