"""Linear layers of replicas, and what may follow, in one go: normalisation, ReLU, sums to clusters.

On a GPU by kernels that know where the padding of a replica begins; see `sepool_experiments.kernels.layer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.norm import EPSILON, MOMENTUM, NodeNorm
from sepool_experiments.layers.ops import has_kernel, pool_relu, rows_at

layer_kernels = load_kernels("sepool_experiments.kernels.layer")
norm_kernels = load_kernels("sepool_experiments.kernels.norm")


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
    if has_layer_kernel(x, source, layers, len(assignment)):
        clusters = layer_kernels.Clusters(assignment, ptr, real[1])
        return _by_kernels(x, source, copies, real[0], clusters, True, layers)
    hidden = _apply(layers, rows_at(x, source))
    times = None if copies is None or source is None else copies.index_select(0, source)
    return pool_relu(hidden, ptr, assignment, times=times)


def layers_norm_pool(
    x: Features,
    layers: Sequence[tuple[Tensor, Tensor]],
    norm: NodeNorm,
    times: Tensor,
    real: Tensor,
    ptr: Tensor,
    assignment: Tensor,
    source: Tensor | None = None,
) -> Tensor:
    """``S relu(norm(relu(x W + b)))`` for replicas; arguments as in `layers_pool`.

    But ``real`` is of the nodes alone, and ``times`` is how often every one counts, not at all if
    it is padding.
    """
    if norm.has_kernel(times) and has_layer_kernel(x, source, layers, len(assignment)):
        out: Tensor = _LayersNorm.apply(  # type: ignore[no-untyped-call]
            *_by_table(x, source), real, times, ptr, assignment, *norm.by_replica(), *_flat(layers)
        )
        return out
    hidden = norm(layers_rows(x, layers, real, source), times)
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
    if has_layer_kernel(x, source, layers, len(x if source is None else source)):
        return _by_kernels(x, source, None, real, None, relu, layers)
    out = _apply(layers, rows_at(x, source))
    return out.relu() if relu else out


def layer_unwritten(
    x: FeatureTable, layer: tuple[Tensor, Tensor], real: Tensor, source: Tensor
) -> Tensor:
    """Stands for `layers_rows` of one layer without ReLU, for who knows its numbers from elsewhere.

    None are in it; only their gradient goes through it to the layer.
    """
    out: Tensor = _Unwritten.apply(  # type: ignore[no-untyped-call]
        *_by_table(x, source), None, real, None, False, *layer
    )
    return out


def _apply(layers: Sequence[tuple[Tensor, Tensor]], x: Tensor) -> Tensor:
    for i, (weight, bias) in enumerate(layers):
        parts = (x.relu() if i else x).view(len(weight), -1, weight.size(1))
        x = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    return x


def has_layer_kernel(
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
    out: Tensor = _Layers.apply(  # type: ignore[no-untyped-call]
        *_by_table(x, source), copies, real, clusters, relu, *_flat(layers)
    )
    return out


def _by_table(x: Features, source: Tensor | None) -> tuple[Any, ...]:
    """The features, the table they are of, the row of every node and how far it reaches."""
    if isinstance(x, FeatureTable):
        return x.rows, x, source, x.reach
    return x, None, source, None


def _flat(layers: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    return [tensor for layer in layers for tensor in layer]


class _Layers(Function):
    """Layers, with ReLU or without the last one, summed to clusters where there are any."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *given: Any) -> Tensor:
        *rest, ctx.clusters, ctx.relu = given[:6]
        weights, biases, ctx.column, ctx.exact = _sorted(table, given[6:])
        rows = (x.contiguous(), *rest)
        out, kept = layer_kernels.products(
            layer_kernels.Rows(*rows, ctx.clusters, ctx.exact), weights, biases, ctx.relu
        )
        ctx.save_for_backward(*rows, *weights, *kept)
        return cast("Tensor", out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        rows, weights, kept = _halves(ctx.saved_tensors, 5)
        given = layer_kernels.Rows(*rows, ctx.clusters, ctx.exact)
        to_x, *pairs = _gradients(ctx, given, weights, kept, grad, ctx.relu)
        return to_x, *[None] * 7, *pairs


class _Unwritten(_Layers):
    """A layer of which nothing is computed but its gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *given: Any) -> Tensor:
        *rest, ctx.clusters, ctx.relu, weight, _bias = given
        assert table is not None
        ctx.column, ctx.exact = table.column, table.exact
        nothing = x.new_empty(1, 1).expand(len(rest[0]), weight.size(2))
        ctx.save_for_backward(x, *rest, weight, nothing)
        return nothing


class _LayersNorm(Function):
    """Layers with ReLU, normalised, with ReLU again, and summed to clusters."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: FeatureTable | None, *given: Any) -> Tensor:
        source, reach, real, times, ptr, assignment, *state = given[:10]
        weights, biases, ctx.column, ctx.exact = _sorted(table, given[10:])
        rows = x.contiguous(), source, reach, None, real
        told = layer_kernels.Rows(*rows, None, ctx.exact)
        hidden, kept = layer_kernels.products(told, weights, biases)
        law = norm_kernels.Law(*state, EPSILON, MOMENTUM)
        out, known = norm_kernels.normalise_pool(hidden, times, law, ptr)
        ctx.save_for_backward(*rows, times, *law[:2], known, assignment, *weights, *kept)
        return cast("Tensor", out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (*rows, times, weight, bias, known, assignment), weights, kept = _halves(
            ctx.saved_tensors, 10
        )
        above, *to_norm = norm_kernels.gradient(
            kept[-1], grad.contiguous(), times, weight, bias, known, True, assignment, gated=True
        )
        given = layer_kernels.Rows(*rows, None, ctx.exact)
        to_x, *pairs = _gradients(ctx, given, weights, kept, above, relu=False)
        return to_x, *[None] * 7, *to_norm, None, None, *pairs


def _sorted(
    table: FeatureTable | None, flat: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], Tensor | None, bool]:
    """Weights and biases for kernels; the column of every feature, and whether rows are exact.

    Where there is a table, which sorts them.
    """
    weights = [weight.contiguous() for weight in flat[::2]]
    biases = [bias.contiguous() for bias in flat[1::2]]
    if table is None:
        return weights, biases, None, False
    weights[0] = weights[0].index_select(1, table.feature)
    return weights, biases, table.column, table.exact


def _halves(saved: Sequence[Any], first: int) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """What was saved first, then the weights, and what the layers kept, equally many."""
    middle = (first + len(saved)) // 2
    return saved[:first], saved[first:middle], saved[middle:]


def _gradients(
    ctx: Any, given: Any, weights: Sequence[Any], kept: Sequence[Any], above: Tensor, relu: bool
) -> list[Any]:
    """Those of the rows, if wanted, and of every weight and bias."""
    to_x, to_weights, to_biases = layer_kernels.gradients(
        given, weights, kept, above, relu, ctx.needs_input_grad[0]
    )
    if ctx.column is not None:
        to_weights[0] = to_weights[0].index_select(1, ctx.column)
    return [to_x, *_flat(list(zip(to_weights, to_biases, strict=True)))]
