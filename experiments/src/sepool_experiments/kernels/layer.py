"""Launches of `sepool_experiments.kernels.product`: chains of linear layers and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from sepool_experiments.kernels.product import gradient, input_gradient, pooled_product, product

# Rows, columns and summands of a tile, its warps and the registers of a thread, limited so that
# more programs run concurrently: the fastest of some 20 settings on an H200.
PRODUCT = {"TALL": 128, "WIDE": 64, "DEEP": 16, "num_warps": 4}
POOLED = {"TALL": 32, "WIDE": 64, "DEEP": 16, "CLUSTERS": 16, "num_warps": 4, "maxnreg": 96}
POOLED_WIDE = {**POOLED, "WIDE": 128, "num_stages": 2, "maxnreg": 128}  # from 128 columns on
GRADIENT = {"TALL": 32, "WIDE": 64, "DEEP": 64, "AHEAD": 128, "num_warps": 4, "num_stages": 1}
GRADIENT_REGISTERS = 128  # of small tiles without multiplicity
MANY = 256  # columns, from which on tiles are twice as deep
PARTS, PART = 32, 512  # largest number of parts of a replica, and their smallest number of rows

Flags = tuple[bool, bool, bool]  # MASKED, SUMMED and MULTIPLICITY of the kernels


class Clusters(NamedTuple):
    """Clusters over which rows are summed.

    Attributes:
        assignment: cluster of every row.
        ptr: first row of every cluster.
        num_valid: number of clusters of every replica without padding.
    """

    assignment: Tensor
    ptr: Tensor
    num_valid: Tensor


class Rows(NamedTuple):
    """Nodes of replicas, in equal numbers, and their features.

    Attributes:
        x: rows of features, or of a table, which may be longer than the weights.
        row_index: row of the table of every node; None without a table.
        extent: number of leading columns with nonzeros of every row of the table.
        multiplicity: number of nodes that every row of the table stands for, a factor of the sums
            over clusters; None for 1.
        num_valid: number of nodes of every replica without padding.
        clusters: clusters over which the last ReLU is summed; None without a sum.
    """

    x: Tensor
    row_index: Tensor | None
    extent: Tensor | None
    multiplicity: Tensor | None
    num_valid: Tensor
    clusters: Clusters | None

    @property
    def size(self) -> int:
        """Number of nodes of all replicas."""
        return len(self.x if self.row_index is None else self.row_index)

    @property
    def num_nodes(self) -> int:
        """Number of nodes of a replica."""
        return self.size // len(self.num_valid)

    def table_args(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return row index, extent and multiplicity; other tensors stand in for None."""
        row_index, extent = (
            self.num_valid if t is None else t for t in (self.row_index, self.extent)
        )
        return row_index, extent, self.x if self.multiplicity is None else self.multiplicity

    def cluster_arg(self) -> Tensor:
        """Return the cluster of every node; another tensor stands in for None."""
        return self.num_valid if self.clusters is None else self.clusters.assignment

    def input_of(self, saved: Sequence[Tensor]) -> tuple[Tensor, bool]:
        """Return the input of the layer after the saved ones, and its DENSE."""
        return (saved[-1], True) if saved else (self.x, self.row_index is None)


def products(
    inputs: Rows, weights: Sequence[Tensor], biases: Sequence[Tensor], relu: bool
) -> tuple[Tensor, list[Tensor]]:
    """Apply ``x W + b`` and ReLU layer by layer; sum the last over clusters if there are any.

    Returns the output, and the output of every layer for the gradients, of a summed one its sign.
    Weights and biases are contiguous.
    """
    saved: list[Tensor] = []
    layers = list(zip(weights, biases, strict=True))
    for weight, bias in layers[:-1]:
        saved.append(_product(inputs, saved, weight, bias, True))
    if inputs.clusters is not None:
        out, positive = _pooled(inputs, inputs.clusters, saved, *layers[-1])
        return out, [*saved, positive]
    saved.append(_product(inputs, saved, *layers[-1], relu))
    return saved[-1], saved


def _product(
    inputs: Rows, saved: Sequence[Tensor], weight: Tensor, bias: Tensor, relu: bool
) -> Tensor:
    (replicas, depth, width), (x, dense) = weight.shape, inputs.input_of(saved)
    out = x.new_empty(inputs.size, width)
    tile, grid = _tiles(PRODUCT, "TALL", inputs.num_nodes, width, replicas)
    row_index, extent, _ = inputs.table_args()
    product[grid](
        x, row_index, extent, inputs.num_valid, weight, bias, out,
        inputs.num_nodes, x.size(1), depth, width, dense, relu, **tile,
    )  # fmt: skip
    return out


def _pooled(
    inputs: Rows, clusters: Clusters, saved: Sequence[Tensor], weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """The last layer summed over clusters, and the sign of its ReLU."""
    (replicas, depth, width), (x, dense) = weight.shape, inputs.input_of(saved)
    assignment, ptr, num_valid = clusters
    capacity = (len(ptr) - 1) // replicas
    out = x.new_empty(replicas * capacity, width)
    positive = torch.empty(inputs.size, width, dtype=torch.int8, device=x.device)
    tile, grid = _tiles(_pooled_tile(width), "CLUSTERS", capacity, width, replicas)
    pooled_product[grid](
        x, *inputs.table_args(), num_valid, weight, bias, ptr, assignment, positive, out,
        capacity, x.size(1), depth, width, dense, inputs.multiplicity is not None, **tile,
    )  # fmt: skip
    return out, positive


def gradients(
    inputs: Rows,
    weights: Sequence[Tensor],
    saved: Sequence[Tensor],
    grad: Tensor,
    relu: bool,
    needs_x_grad: bool,
) -> tuple[Tensor | None, list[Tensor], list[Tensor]]:
    """Return the gradients of the rows, if requested, the weights and the biases.

    ``saved`` and ``grad`` are the output of `products` and its gradient.
    """
    weight_grads: list[Tensor] = []
    bias_grads: list[Tensor] = []
    grad, summed = grad.contiguous(), inputs.clusters is not None
    flags = relu, summed, summed and inputs.multiplicity is not None
    for i in reversed(range(len(weights))):
        layer = inputs, saved[:i], weights[i], saved[i], grad, flags
        weight_grad, bias_grad = _layer_gradients(*layer)
        weight_grads.insert(0, weight_grad)
        bias_grads.insert(0, bias_grad)
        if i or needs_x_grad:
            grad = _row_gradient(*layer)
        flags = False, False, False  # the ReLU before is masked in `_row_gradient`
    return grad if needs_x_grad else None, weight_grads, bias_grads


def _layer_gradients(
    inputs: Rows,
    previous: Sequence[Tensor],
    weight: Tensor,
    hidden: Tensor,
    grad: Tensor,
    flags: Flags,
) -> tuple[Tensor, Tensor]:
    """Gradients of the weights and biases of the layer after ``previous``."""
    (replicas, depth, width), (x, dense) = weight.shape, inputs.input_of(previous)
    parts = min(PARTS, triton.cdiv(inputs.num_nodes, PART))
    out, sums = x.new_empty(replicas, parts, depth, width), x.new_empty(replicas, parts, width)
    tile = _gradient_tile(depth, width, multiplicity=flags[-1])
    tiles = triton.cdiv(depth, tile["DEEP"]) * triton.cdiv(width, tile["WIDE"])
    gradient[(tiles, parts, replicas)](
        x, *inputs.table_args(), inputs.num_valid, grad, inputs.cluster_arg(), hidden, out, sums,
        inputs.num_nodes, x.size(1), depth, width, dense, *flags, **tile,
    )  # fmt: skip
    return (out.sum(1), sums.sum(1)) if parts > 1 else (out[:, 0], sums[:, 0])


def _row_gradient(
    inputs: Rows,
    previous: Sequence[Tensor],
    weight: Tensor,
    hidden: Tensor,
    grad: Tensor,
    flags: Flags,
) -> Tensor:
    """Gradient of the input of a layer, through the ReLU before it."""
    (replicas, depth, width), (x, _) = weight.shape, inputs.input_of(previous)
    out = x.new_empty(inputs.size, depth)
    tile, grid = _tiles(PRODUCT, "TALL", inputs.num_nodes, depth, replicas)
    row_index, _, multiplicity = inputs.table_args()
    input_gradient[grid](
        x, row_index, multiplicity, inputs.num_valid, grad, inputs.cluster_arg(), hidden, weight,
        out, inputs.num_nodes, depth, width, bool(previous), *flags, **tile,
    )  # fmt: skip
    return out


def _tiles(
    tile: dict[str, int], side: str, lines: int, columns: int, replicas: int
) -> tuple[dict[str, int], tuple[int, int, int]]:
    """Tile for a number of columns, and the grid; ``side`` is the tile's number of lines."""
    tile = _at_most(tile, WIDE=columns)
    return tile, (triton.cdiv(lines, tile[side]), triton.cdiv(columns, tile["WIDE"]), replicas)


def _pooled_tile(width: int) -> dict[str, int]:
    return POOLED if width < POOLED_WIDE["WIDE"] else POOLED_WIDE


def _gradient_tile(depth: int, width: int, multiplicity: bool) -> dict[str, int]:
    many = {"DEEP": 2 * GRADIENT["DEEP"]} if depth > MANY else {}
    few = {} if many or multiplicity else {"maxnreg": GRADIENT_REGISTERS}
    return _at_most({**GRADIENT, **many, **few}, DEEP=depth, WIDE=width)


def _at_most(tile: dict[str, int], **numbers: int) -> dict[str, int]:
    """Shrink the sides of a tile to the input, to 16 at least, as matrix units need."""
    sides = {
        side: min(tile[side], max(16, triton.next_power_of_2(number)))
        for side, number in numbers.items()
    }
    return {**tile, **sides}
