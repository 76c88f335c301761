"""Linear layers, whose ReLU may be summed to clusters, and their gradients, on a GPU.

This launches what is written in `sepool_experiments.kernels.product`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from sepool_experiments.kernels.product import back, gradient, pooled_product, product

# Rows, columns and summands of a tile; warps that share it, registers that a thread gets at most,
# so that more programs run at a time. The fastest of some 20 on an H200.
PRODUCT = {"TALL": 128, "WIDE": 64, "DEEP": 16, "num_warps": 4}
POOLED = {"TALL": 32, "WIDE": 64, "DEEP": 16, "CLUSTERS": 16, "num_warps": 4, "maxnreg": 96}
POOLED_WIDE = {**POOLED, "WIDE": 128, "num_stages": 2, "maxnreg": 128}  # from 128 columns on
GRADIENT = {"TALL": 32, "WIDE": 64, "DEEP": 64, "AHEAD": 128, "num_warps": 4, "num_stages": 1}
GRADIENT_REGISTERS = 128  # of small tiles, unless rows are multiplied besides
MANY = 256  # columns, from which on twice as many in a tile are faster
PARTS, PART = 32, 512  # of every replica, at most, and its rows, at least: gradients are summed

Flags = tuple[bool, bool, bool]  # GATED, SUMMED and COPIES of the kernels


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
        exact: whether TensorFloat-32 can hold all numbers of the table.
    """

    x: Tensor
    source: Tensor | None
    reach: Tensor | None
    copies: Tensor | None
    real: Tensor
    clusters: Clusters | None
    exact: bool = False

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

    def parents(self) -> Tensor:
        """The cluster of every node for kernels; anything stands for it where there is none."""
        return self.real if self.clusters is None else self.clusters.assignment

    def before(self, kept: Sequence[Tensor]) -> tuple[Tensor, tuple[bool, bool]]:
        """What a layer takes after those that are kept, and OWN and EXACT of it for kernels."""
        return (kept[-1], (True, False)) if kept else (self.x, (self.source is None, self.exact))


def products(
    given: Rows, weights: Sequence[Tensor], biases: Sequence[Tensor], relu: bool = True
) -> tuple[Tensor, list[Tensor]]:
    """``x W + b`` and its ReLU, again and again; the last may stay without, or is summed.

    Returns that, and what the gradients need of every layer: the layer itself, but of one that is
    summed only where the ReLU let something through. Weights and biases, one a replica, are
    contiguous.
    """
    kept: list[Tensor] = []
    layers = list(zip(weights, biases, strict=True))
    for weight, bias in layers[:-1]:
        kept.append(_product(given, kept, weight, bias, True))
    if given.clusters is not None:
        out, gate = _pooled(given, given.clusters, kept, *layers[-1])
        return out, [*kept, gate]
    kept.append(_product(given, kept, *layers[-1], relu))
    return kept[-1], kept


def _product(
    given: Rows, kept: Sequence[Tensor], weight: Tensor, bias: Tensor, relu: bool
) -> Tensor:
    """The next layer, after those that are kept."""
    (replicas, depth, width), (x, kind) = weight.shape, given.before(kept)
    out = x.new_empty(given.size, width)
    tile, grid = _tiles(PRODUCT, "TALL", given.nodes, width, replicas)
    source, reach, _ = given.pointers()
    product[grid](
        x, source, reach, given.real, weight, bias, out,
        given.nodes, x.size(1), depth, width, *kind, relu, **tile,
    )  # fmt: skip
    return out


def _pooled(
    given: Rows, clusters: Clusters, kept: Sequence[Tensor], weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """The last layer summed to clusters, and where its ReLU let something through."""
    (replicas, depth, width), (x, kind) = weight.shape, given.before(kept)
    assignment, ptr, real = clusters
    room = (len(ptr) - 1) // replicas
    out = x.new_empty(replicas * room, width)
    gate = torch.empty(given.size, width, dtype=torch.int8, device=x.device)
    tile, grid = _tiles(_pooled_tile(width), "CLUSTERS", room, width, replicas)
    pooled_product[grid](
        x, *given.pointers(), real, weight, bias, ptr, assignment, gate, out,
        room, x.size(1), depth, width, *kind, given.copies is not None, **tile,
    )  # fmt: skip
    return out, gate


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
    flags = relu, summed, summed and given.copies is not None
    for i in reversed(range(len(weights))):
        layer = given, kept[:i], weights[i], kept[i], above, flags
        to_weight, to_bias = _to_weights(*layer)
        to_weights.insert(0, to_weight)
        to_biases.insert(0, to_bias)
        if i or to_x:
            above = _to_rows(*layer)
        flags = False, False, False  # a ReLU before has its gradient in `_to_rows`
    return above if to_x else None, to_weights, to_biases


def _to_weights(
    given: Rows,
    before: Sequence[Tensor],
    weight: Tensor,
    hidden: Tensor,
    above: Tensor,
    flags: Flags,
) -> tuple[Tensor, Tensor]:
    """The gradients of the weights and biases of a layer, after those ``before`` it."""
    (replicas, depth, width), (x, kind) = weight.shape, given.before(before)
    parts = min(PARTS, triton.cdiv(given.nodes, PART))
    out, sums = x.new_empty(replicas, parts, depth, width), x.new_empty(replicas, parts, width)
    tile = _gradient_tile(depth, width, copies=flags[-1])
    tiles = triton.cdiv(depth, tile["DEEP"]) * triton.cdiv(width, tile["WIDE"])
    gradient[(tiles, parts, replicas)](
        x, *given.pointers(), given.real, above, given.parents(), hidden, out, sums,
        given.nodes, x.size(1), depth, width, *kind, *flags, **tile,
    )  # fmt: skip
    return (out.sum(1), sums.sum(1)) if parts > 1 else (out[:, 0], sums[:, 0])


def _to_rows(
    given: Rows,
    before: Sequence[Tensor],
    weight: Tensor,
    hidden: Tensor,
    above: Tensor,
    flags: Flags,
) -> Tensor:
    """The gradient of what a layer took, and of the ReLU that came before, if one did."""
    (replicas, depth, width), (x, _) = weight.shape, given.before(before)
    out = x.new_empty(given.size, depth)
    tile, grid = _tiles(PRODUCT, "TALL", given.nodes, depth, replicas)
    source, _, copies = given.pointers()
    back[grid](
        x, source, copies, given.real, above, given.parents(), hidden, weight, out,
        given.nodes, depth, width, bool(before), *flags, **tile,
    )  # fmt: skip
    return out


def _tiles(
    tile: dict[str, int], side: str, lines: int, columns: int, replicas: int
) -> tuple[dict[str, int], tuple[int, int, int]]:
    """A tile for so many columns, and how many there are; ``side`` says how many lines it has."""
    tile = _at_most(tile, WIDE=columns)
    return tile, (triton.cdiv(lines, tile[side]), triton.cdiv(columns, tile["WIDE"]), replicas)


def _pooled_tile(width: int) -> dict[str, int]:
    return POOLED if width < POOLED_WIDE["WIDE"] else POOLED_WIDE


def _gradient_tile(depth: int, width: int, copies: bool) -> dict[str, int]:
    many = {"DEEP": 2 * GRADIENT["DEEP"]} if depth > MANY else {}
    few = {} if many or copies else {"maxnreg": GRADIENT_REGISTERS}
    return _at_most({**GRADIENT, **many, **few}, DEEP=depth, WIDE=width)


def _at_most(tile: dict[str, int], **numbers: int) -> dict[str, int]:
    """A tile with smaller sides where less will do; matrix units take no less than 16."""
    sides = {
        side: min(tile[side], max(16, triton.next_power_of_2(number)))
        for side, number in numbers.items()
    }
    return {**tile, **sides}
