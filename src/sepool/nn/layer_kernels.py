"""Linear layers, whose ReLU may be summed to clusters, and their gradients, on a GPU.

This launches what is written in `sepool.nn.product_kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from sepool.nn.product_kernels import back, gradient, pooled_product, product

# Rows, columns and summands of a tile; warps that share it. The fastest of some 20 on an H200.
PRODUCT = {"TALL": 128, "WIDE": 64, "DEEP": 16, "num_warps": 4}
POOLED = {"TALL": 32, "WIDE": 64, "DEEP": 16, "CLUSTERS": 16, "num_warps": 4}
GRADIENT = {"TALL": 32, "WIDE": 64, "DEEP": 64, "AHEAD": 128, "num_warps": 4}
MANY = 256  # columns, from which on twice as many in a tile are faster
PARTS, PART = 16, 512  # of every replica, at most, and its rows, at least: gradients are summed


class Clusters(NamedTuple):
    """What rows are summed to.

    Attributes:
        assignment: the cluster of every row.
        ptr: where the rows of every cluster begin.
        real: how many clusters of every replica are no padding.
    """

    assignment: Tensor
    ptr: Tensor
    real: Tensor


class Rows(NamedTuple):
    """The nodes of replicas, equally many each, and their features.

    Attributes:
        x: rows of features, or those of a table, which may be longer than the weights.
        source: the row of every node in the table; None where every node has its own.
        reach: how many numbers of every row of the table can be other than 0.
        copies: how many nodes each row of the table stands for; None where it is one. Only what is
            summed to clusters is multiplied.
        real: how many nodes of every replica are no padding.
        clusters: what the last ReLU is summed to; None where it is not.
    """

    x: Tensor
    source: Tensor | None
    reach: Tensor | None
    copies: Tensor | None
    real: Tensor
    clusters: Clusters | None

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.x if self.source is None else self.source)

    @property
    def nodes(self) -> int:
        """How many nodes a replica has."""
        return self.size // len(self.real)

    def pointers(self) -> tuple[Tensor, Tensor, Tensor]:
        """The source, reach and copies for kernels; anything stands for what is not there."""
        source, reach = (self.real if t is None else t for t in (self.source, self.reach))
        return source, reach, self.x if self.copies is None else self.copies


def products(
    given: Rows, weights: Sequence[Tensor], biases: Sequence[Tensor], relu: bool = True
) -> tuple[Tensor, list[Tensor]]:
    """``x W + b`` and its ReLU, again and again; the last one without, or summed to clusters.

    Returns that, and what the gradients need of every layer: the layer itself, but of one that is
    summed only where the ReLU let something through. Weights and biases, one a replica, are
    contiguous.
    """
    kept: list[Tensor] = []
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        replicas, depth, width = weight.shape
        x, own = (kept[-1], True) if kept else (given.x, given.source is None)
        last = i + 1 == len(weights)
        source, reach, copies = given.pointers()
        if last and given.clusters is not None:
            assignment, ptr, real = given.clusters
            gate = torch.empty(given.size, width, dtype=torch.int8, device=x.device)
            room = (len(ptr) - 1) // replicas
            out = x.new_empty(replicas * room, width)
            tile = _at_most(POOLED, WIDE=width)
            grid = triton.cdiv(room, tile["CLUSTERS"]), triton.cdiv(width, tile["WIDE"]), replicas
            pooled_product[grid](
                x, source, reach, copies, real, weight, bias, ptr, assignment, gate, out,
                room, x.size(1), depth, width, own, given.copies is not None, **tile,
            )  # fmt: skip
            return out, [*kept, gate]
        kept.append(x.new_empty(given.size, width))
        tile = _at_most(PRODUCT, WIDE=width)
        grid = triton.cdiv(given.nodes, tile["TALL"]), triton.cdiv(width, tile["WIDE"]), replicas
        product[grid](
            x, source, reach, given.real, weight, bias, kept[-1],
            given.nodes, x.size(1), depth, width, own, relu or not last, **tile,
        )  # fmt: skip
    return kept[-1], kept


def gradients(
    given: Rows,
    weights: Sequence[Tensor],
    kept: Sequence[Tensor],
    above: Tensor,
    relu: bool = True,
    to_x: bool = False,
) -> tuple[Tensor | None, list[Tensor], list[Tensor]]:
    """The gradients of the rows, if wanted, the weights and the biases.

    Given what `products` kept, and the gradient of what it returned.
    """
    to_weights: list[Tensor] = []
    to_biases: list[Tensor] = []
    above, summed = above.contiguous(), given.clusters is not None
    parents = given.real if given.clusters is None else given.clusters.assignment
    parts = min(PARTS, triton.cdiv(given.nodes, PART))
    for i in reversed(range(len(weights))):
        replicas, depth, width = weights[i].shape
        x, own = (kept[i - 1], True) if i else (given.x, given.source is None)
        last = i + 1 == len(weights)
        flags = last and relu, last and summed, last and summed and given.copies is not None
        source, reach, copies = given.pointers()
        told = given.real, above, parents, kept[i]
        out, sums = x.new_empty(replicas, parts, depth, width), x.new_empty(replicas, parts, width)
        tile = _gradient_tile(depth, width)
        tiles = triton.cdiv(depth, tile["DEEP"]) * triton.cdiv(width, tile["WIDE"])
        gradient[(tiles, parts, replicas)](
            x, source, reach, copies, *told, out, sums,
            given.nodes, x.size(1), depth, width, own, *flags, **tile,
        )  # fmt: skip
        to_weights.insert(0, out.sum(1) if parts > 1 else out[:, 0])
        to_biases.insert(0, sums.sum(1) if parts > 1 else sums[:, 0])
        if i or to_x:
            above = x.new_empty(given.size, depth)
            tile = _at_most(PRODUCT, WIDE=depth)
            grid = triton.cdiv(given.nodes, tile["TALL"]), triton.cdiv(depth, tile["WIDE"])
            back[(*grid, replicas)](
                x, source, copies, *told, weights[i], above,
                given.nodes, depth, width, i > 0, *flags, **tile,
            )  # fmt: skip
    return above if to_x else None, to_weights, to_biases


def _gradient_tile(depth: int, width: int) -> dict[str, int]:
    deep = GRADIENT["DEEP"] * (2 if depth > MANY else 1)
    return _at_most({**GRADIENT, "DEEP": deep}, DEEP=depth, WIDE=width)


def _at_most(tile: dict[str, int], **numbers: int) -> dict[str, int]:
    """A tile with smaller sides where less will do; matrix units take no less than 16."""
    sides = {
        side: min(tile[side], max(16, triton.next_power_of_2(number)))
        for side, number in numbers.items()
    }
    return {**tile, **sides}
