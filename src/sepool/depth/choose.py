"""Choice of the levels of deep trees that the graph supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from sepool.depth.code_length import Edges, Partition, split_bits
from sepool.segments import Floats, Ints, common_parts, renumbered, sums

LEAST_BITS = 10.0  # which chance saves in one of a thousand graphs at most
LEAST_SHARE = 0.01  # of the bits of all levels that a further level has to save


@dataclass(frozen=True)
class Hierarchy:
    """Nested levels of a graph, finest first, and the bits that they save.

    Attributes:
        levels: cluster of every node on each level; without levels, the graph has no clusters.
        bits: of code length saved by all levels together.
    """

    levels: tuple[Ints, ...]
    bits: float


class LevelChooser:
    """Levels of trees of one graph, and the bits that every choice of them saves."""

    def __init__(self, edges: Edges, components: Ints) -> None:
        self._edges = edges
        self._components = components
        self._root = Partition(edges, np.zeros(edges.num_nodes, np.int64))

    def best(self, labels: Sequence[Ints]) -> Hierarchy:
        """Return the choice of levels, finest first, that saves most; pruned to clusters that pay.

        A choice with one level more must save `LEAST_BITS` and the share `LEAST_SHARE` more.
        """
        levels = self._partitions(labels)
        splits = {
            (i, j): split_bits(self._edges, levels[i], levels[j])
            for j in range(len(levels))
            for i in range(j)
        }
        top = len(levels) - 1
        best = Hierarchy((), 0.0)
        for size in range(1, top + 1):
            chains = ((*some, top) for some in combinations(range(top), size))
            other = max((_pruned(levels, splits, chain) for chain in chains), key=_bits)
            if other.bits > best.bits + max(LEAST_BITS, LEAST_SHARE * best.bits):
                best = other
        return best

    def strongest(self, labels: Sequence[Ints]) -> Hierarchy:
        """Return the level that saves most by itself, or costs least."""
        *levels, root = self._partitions(labels)
        inside = [level for level in levels if level.count > self._components.max() + 1]
        options = (
            Hierarchy((level.labels,), float(split_bits(self._edges, level, root)[0]))
            for level in inside
        )
        return max(options, key=_bits, default=Hierarchy((), -np.inf))

    def bits(self, labels: Sequence[Ints]) -> float:
        """Return the bits that all levels save, finest first."""
        levels = self._partitions(labels)
        pairs = pairwise(levels)
        return float(sum(split_bits(self._edges, *pair).sum() for pair in pairs))

    def _partitions(self, labels: Sequence[Ints]) -> list[Partition]:
        nested = (common_parts(level.astype(np.int64), self._components) for level in labels)
        return [Partition(self._edges, level) for level in nested] + [self._root]


def _bits(hierarchy: Hierarchy) -> float:
    return hierarchy.bits


def _pruned(
    levels: list[Partition],
    splits: dict[tuple[int, int], Floats],
    chain: tuple[int, ...],
) -> Hierarchy:
    """Return the chain of levels without splits that cost more bits than they save."""
    bits = np.zeros(levels[chain[0]].count)
    split: list[NDArray[np.bool_]] = []
    for i, j in pairwise(chain):
        up = np.zeros(levels[i].count, np.int64)
        up[levels[i].labels] = levels[j].labels
        total = splits[i, j] + sums(up, bits, levels[j].count)
        split.append(total > 0)
        bits = np.maximum(total, 0)
    labels = [levels[i].labels for i in chain]
    return Hierarchy(_cut_back(labels, split), float(bits[0]))


def _cut_back(labels: list[Ints], split: list[NDArray[np.bool_]]) -> tuple[Ints, ...]:
    """Return the levels below the root, with clusters that are not split as chains."""
    current = labels[-1]
    alive = np.ones(len(current), np.bool_)
    out: list[Ints] = []
    for level in range(len(labels) - 2, -1, -1):
        alive = alive & split[level][labels[level + 1]]
        finer = np.where(alive, 2 * labels[level] + 1, 2 * current)
        current = renumbered(finer)
        if len(out) == 0 or current.max() > out[-1].max():
            out.append(current)
    return tuple(out[::-1]) if len(out) and out[0].max() > 0 else ()
