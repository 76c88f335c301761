"""Launches of `sepool_experiments.kernels.norm_pass`: two passes forward and two backward."""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
from torch import Tensor

from sepool_experiments.kernels import norm_pass

ROWS, WIDTH = 16, 64  # of a tile
AHEAD = 4  # tiles loaded at a time
CHUNKS = 16  # a replica


def _grid(replicas: int, width: int) -> tuple[tuple[int, int, int], tuple[int, int, int, int]]:
    """Grid, and chunks and tile of a program."""
    wide = min(WIDTH, triton.next_power_of_2(width))
    return (replicas, CHUNKS, triton.cdiv(width, wide)), (CHUNKS, AHEAD, ROWS, wide)


class State(NamedTuple):
    """Parameters and running statistics of `NodeNorm`, one row a replica, and its constants."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor
    epsilon: float
    momentum: float


def normalise(x: Tensor, row_weight: Tensor, state: State, relu: bool) -> tuple[Tensor, Tensor]:
    """Return the normalised rows, and mean, scale and count of every replica for the gradient.

    Updates the running statistics.
    """
    (replicas, width), rows = state.weight.shape, len(x) // len(state.weight)
    assert state.weight.stride() == state.bias.stride()
    assert state.running_mean.stride() == state.running_var.stride()
    parts = x.new_empty(3, replicas, CHUNKS, width)
    statistics, out = x.new_empty(replicas, 3, width), torch.empty_like(x)
    grid, tile = _grid(replicas, width)
    norm_pass.moments[grid](x, row_weight, *parts, rows, width, *tile)
    norm_pass.join[grid[::2]](
        *parts, state.running_mean, state.running_var, statistics, width,
        state.running_mean.stride(0), state.epsilon, state.momentum, CHUNKS, tile[-1],
    )  # fmt: skip
    norm_pass.normalise[grid](
        x, row_weight, *state[:2], statistics, out, rows, width, state.weight.stride(0), relu, *tile
    )
    return out, statistics


def gradient(
    x: Tensor,
    grad: Tensor,
    row_weight: Tensor,
    weight: Tensor,
    bias: Tensor,
    statistics: Tensor,
    relu: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the rows, the weight and the bias; ``relu`` followed."""
    (replicas, width), rows = weight.shape, len(x) // len(weight)
    sums = x.new_empty(2, replicas, CHUNKS, width)
    x_grad, weight_grads = torch.empty_like(x), x.new_empty(2, replicas, width)
    grid, tile = _grid(replicas, width)
    tensors = x, grad, row_weight, weight, bias, statistics
    sizes = rows, width, weight.stride(0), relu
    norm_pass.gradient_sums[grid](*tensors, *sums, *sizes, *tile)
    norm_pass.gradient[grid](*tensors, *sums, x_grad, *weight_grads, *sizes, *tile)
    return x_grad, weight_grads[0], weight_grads[1]
