"""`sepool_experiments.layers.norm.NodeNorm` on a GPU: two passes over the nodes forward, two backward.

This launches what is written in `sepool_experiments.kernels.norm_pass`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
from torch import Tensor

from sepool_experiments.kernels import norm_pass as norm_pass_kernels

ROWS, WIDTH = 16, 64  # of a tile
AHEAD = 4  # tiles that are on their way at a time
CHUNKS = 16  # a replica


def _grid(replicas: int, width: int) -> tuple[tuple[int, int, int], tuple[int, int, int, int]]:
    """The programs, and the chunks and the tiles of each."""
    wide = min(WIDTH, triton.next_power_of_2(width))
    return (replicas, CHUNKS, triton.cdiv(width, wide)), (CHUNKS, AHEAD, ROWS, wide)


class Law(NamedTuple):
    """What `sepool_experiments.layers.norm.NodeNorm` has learned and seen, one row a replica, and its constants."""

    weight: Tensor
    bias: Tensor
    seen_mean: Tensor
    seen_var: Tensor
    epsilon: float
    momentum: float


def _measure(x: Tensor, times: Tensor, law: Law) -> Tensor:
    """The mean, scale and count of every replica, which are seen by that."""
    (replicas, width), rows = law.weight.shape, len(x) // len(law.weight)
    assert law.weight.stride() == law.bias.stride()
    assert law.seen_mean.stride() == law.seen_var.stride()
    parts = x.new_empty(3, replicas, CHUNKS, width)
    known = x.new_empty(replicas, 3, width)
    grid, tile = _grid(replicas, width)
    norm_pass_kernels.moments[grid](x, times, *parts, rows, width, *tile)
    norm_pass_kernels.join[grid[::2]](
        *parts, law.seen_mean, law.seen_var, known, width, law.seen_mean.stride(0),
        law.epsilon, law.momentum, CHUNKS, tile[-1],
    )  # fmt: skip
    return known


def normalise(x: Tensor, times: Tensor, law: Law, relu: bool) -> tuple[Tensor, Tensor]:
    """The normalised rows, and the mean, scale and count of every replica for the gradient."""
    (replicas, width), rows = law.weight.shape, len(x) // len(law.weight)
    known, out = _measure(x, times, law), torch.empty_like(x)
    grid, tile = _grid(replicas, width)
    norm_pass_kernels.normalise[grid](
        x, times, *law[:2], known, out, rows, width, law.weight.stride(0), relu, *tile
    )
    return out, known


def normalise_pool(x: Tensor, times: Tensor, law: Law, ptr: Tensor) -> tuple[Tensor, Tensor]:
    """The same with ReLU, each row as often as it counts, summed to the clusters of ``ptr``."""
    replicas, width = law.weight.shape
    room = (len(ptr) - 1) // replicas
    known, out = _measure(x, times, law), x.new_empty(replicas * room, width)
    (_, _, columns), (_, *tile) = _grid(replicas, width)
    norm_pass_kernels.pool[(triton.cdiv(room, ROWS), columns, replicas)](
        x, times, *law[:2], known, ptr, out, room, width, law.weight.stride(0), *tile
    )
    return out, known


def gradient(
    x: Tensor,
    grad: Tensor,
    times: Tensor,
    weight: Tensor,
    bias: Tensor,
    known: Tensor,
    relu: bool,
    assignment: Tensor | None = None,
    gated: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the rows, the weight and the bias.

    Args:
        x: the rows.
        grad: the gradient of what was made of them, or of the clusters that this was summed to.
        times: how often every row counts.
        weight: what was learned.
        bias: likewise.
        known: what `normalise` or `normalise_pool` returned.
        relu: whether a ReLU followed.
        assignment: the cluster of every row; None where nothing was summed.
        gated: whether ``x`` is a ReLU, the gradient of which is wanted then.
    """
    (replicas, width), rows = weight.shape, len(x) // len(weight)
    sums = x.new_empty(2, replicas, CHUNKS, width)
    to_x, to_weights = torch.empty_like(x), x.new_empty(2, replicas, width)
    grid, tile = _grid(replicas, width)
    pooled, stride = assignment is not None, weight.stride(0)
    given = x, grad, times, weight, bias, known, assignment if pooled else times
    norm_pass_kernels.gradient_sums[grid](*given, *sums, rows, width, stride, relu, pooled, *tile)
    norm_pass_kernels.gradient[grid](
        *given, *sums, to_x, *to_weights, rows, width, stride, relu, pooled, gated, *tile
    )
    return to_x, to_weights[0], to_weights[1]
