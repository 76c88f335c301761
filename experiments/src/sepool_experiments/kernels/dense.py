"""`sepool_experiments.models.parts.dense` on a GPU, in Triton: a program holds the whole matrix of a graph.

What belongs to columns is found from the transposed tile, which is loaded again: it is near.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

LARGEST = 128  # matrix that fits


@triton.jit
def _tile(matrix, size, stride, line, SIZE: tl.constexpr, TURNED: tl.constexpr):
    """The matrix of a graph, or its transpose."""
    first = tl.arange(0, SIZE)[:, None]
    second = tl.arange(0, SIZE)[None, :]
    inside = (first < size) & (second < size)
    row = second if TURNED else first
    column = first if TURNED else second
    place = tl.program_id(0).to(tl.int64) * stride + row * line + column
    return tl.load(matrix + place, mask=inside, other=0.0)


@triton.jit
def _joined(matrix, size, stride, line, SIZE: tl.constexpr, TURNED: tl.constexpr,
            LOOPS: tl.constexpr):  # fmt: skip
    """The same with a loop at every node, or without any."""
    values = _tile(matrix, size, stride, line, SIZE, TURNED)
    diagonal = tl.arange(0, SIZE)[:, None] == tl.arange(0, SIZE)[None, :]
    return values + diagonal.to(tl.float32) if LOOPS else tl.where(diagonal, 0.0, values)


@triton.jit
def _normalise(matrix, out, size, stride, line, SIZE: tl.constexpr, LOOPS: tl.constexpr,
               TINY: tl.constexpr):  # fmt: skip
    values = _joined(matrix, size, stride, line, SIZE, False, LOOPS)
    turned = _joined(matrix, size, stride, line, SIZE, True, LOOPS)
    own = tl.rsqrt(tl.maximum(tl.sum(values, 1), TINY))
    other = tl.rsqrt(tl.maximum(tl.sum(turned, 0), TINY))
    row = tl.arange(0, SIZE)[:, None]
    column = tl.arange(0, SIZE)[None, :]
    place = tl.program_id(0).to(tl.int64) * size * size + row * size + column
    inside = (row < size) & (column < size)
    tl.store(out + place, values * own[:, None] * other[None, :], mask=inside)


@triton.jit
def _normalise_gradient(matrix, grad, out, size, stride, line, SIZE: tl.constexpr,
                        LOOPS: tl.constexpr, TINY: tl.constexpr):  # fmt: skip
    """``g_ij s_i s_j - s_i^2 (sum_j g_ij n_ij + g_ji n_ji) / 2``, ``n`` being the result."""
    values = _joined(matrix, size, stride, line, SIZE, False, LOOPS)
    turned = _joined(matrix, size, stride, line, SIZE, True, LOOPS)
    total = tl.sum(values, 1)
    own = tl.rsqrt(tl.maximum(total, TINY))
    other = tl.rsqrt(tl.maximum(tl.sum(turned, 0), TINY))
    above = _tile(grad, size, size * size, size, SIZE, False)
    back = _tile(grad, size, size * size, size, SIZE, True)
    both = own[:, None] * other[None, :]
    change = tl.sum((above * values + back * turned) * both, 1)
    change = tl.where(total >= TINY, change * own * own / 2, 0.0)
    found = above * both - change[:, None]
    row = tl.arange(0, SIZE)[:, None]
    column = tl.arange(0, SIZE)[None, :]
    if not LOOPS:
        found = tl.where(row == column, 0.0, found)
    place = tl.program_id(0).to(tl.int64) * size * size + row * size + column
    tl.store(out + place, found, mask=(row < size) & (column < size))


@triton.jit
def _crowding(matrix, out, gradient, even, size, stride, line, SIZE: tl.constexpr,
              TINY: tl.constexpr):  # fmt: skip
    """How far a matrix is from a multiple of the identity, and the gradient of that."""
    values = _tile(matrix, size, stride, line, SIZE, False)
    norm = tl.sqrt(tl.maximum(tl.sum(tl.sum(values * values, 1), 0), TINY))
    values = values / norm
    row = tl.arange(0, SIZE)[:, None]
    column = tl.arange(0, SIZE)[None, :]
    apart = values - tl.where((row == column) & (row < size), even, 0.0)
    square = tl.sum(tl.sum(apart * apart, 1), 0)
    length = tl.sqrt(tl.maximum(square, TINY))
    tl.store(out + tl.program_id(0), length)
    apart = tl.where(square >= TINY, apart / length, 0.0)
    found = (apart - values * tl.sum(tl.sum(apart * values, 1), 0)) / norm
    place = tl.program_id(0).to(tl.int64) * size * size + row * size + column
    tl.store(gradient + place, found, mask=(row < size) & (column < size))


def _numbers(matrices: Tensor) -> tuple[tuple[int, ...], int, int]:
    """Size and strides, the side of the tile, and how many warps hold it."""
    side = triton.next_power_of_2(matrices.size(1))
    warps = 1 if side <= 16 else 4 if side <= 64 else 8
    return (matrices.size(1), *matrices.stride()[:2]), side, warps


def normalise(matrices: Tensor, loops: bool, tiny: float) -> Tensor:
    """See `sepool_experiments.models.parts.dense.normalise`."""
    out = torch.empty(matrices.shape, device=matrices.device)
    numbers, side, warps = _numbers(matrices)
    _normalise[(len(out),)](matrices, out, *numbers, side, loops, tiny, num_warps=warps)
    return out


def normalise_gradient(matrices: Tensor, grad: Tensor, loops: bool, tiny: float) -> Tensor:
    """The gradient of the matrices."""
    out = torch.empty(matrices.shape, device=matrices.device)
    numbers, side, warps = _numbers(matrices)
    state = matrices, grad.contiguous(), out
    _normalise_gradient[(len(out),)](*state, *numbers, side, loops, tiny, num_warps=warps)
    return out


def crowding(matrices: Tensor, tiny: float) -> tuple[Tensor, Tensor]:
    """See `sepool_experiments.models.parts.dense.crowding`; the gradient comes along."""
    out = torch.empty(len(matrices), device=matrices.device)
    gradient = torch.empty(matrices.shape, device=matrices.device)
    numbers, side, warps = _numbers(matrices)
    state = matrices, out, gradient, matrices.size(1) ** -0.5
    _crowding[(len(out),)](*state, *numbers, side, tiny, num_warps=warps)
    return out, gradient
