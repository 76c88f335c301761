"""Rings of molecules, and what a clustering leaves of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Molecule:
    """A molecule: how many atoms it has, its bonds (every one once), and its rings.

    The rings are a minimum cycle basis: of two fused rings these two, not the way around both.
    """

    atoms: int
    bonds: Ints
    rings: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, atoms: int, bonds: Ints) -> Molecule:
        """Finds the rings.

        Example:
            >>> square = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [3, 4]])
            >>> Molecule.of(5, square).rings
            ((0, 1, 2, 3),)
        """
        graph = nx.Graph()
        graph.add_nodes_from(range(atoms))
        graph.add_edges_from(bonds.tolist())
        rings = sorted(tuple(sorted(ring)) for ring in nx.minimum_cycle_basis(graph))
        return cls(atoms, np.asarray(bonds, np.int64).reshape(-1, 2), tuple(rings))

    @cached_property
    def same_ring(self) -> NDArray[np.bool_]:
        """Which two atoms are in one ring; an atom of a ring is so with itself."""
        same = np.zeros((self.atoms, self.atoms), bool)
        for ring in self.rings:
            same[np.ix_(ring, ring)] = True
        return same

    @property
    def in_ring(self) -> NDArray[np.bool_]:
        """Which atoms are in a ring."""
        return np.asarray(self.same_ring.diagonal())

    @property
    def ring_bonds(self) -> Ints:
        """The bonds between two atoms of one ring."""
        return self.bonds[self.same_ring[self.bonds[:, 0], self.bonds[:, 1]]]

    def pieces(self, labels: Ints) -> list[int]:
        """Over how many clusters every ring is spread."""
        return [len(np.unique(labels[list(ring)])) for ring in self.rings]


@dataclass(frozen=True)
class RingCount:
    """What a clustering of many molecules leaves of their rings.

    One cluster for a whole molecule tears no ring, and tells none from another either: so there is
    also ``match``, which both a torn ring and two rings in one cluster lower.

    Attributes:
        rings: how many there are.
        whole: the share of them that lies in one cluster.
        pieces: over how many clusters a ring is spread, on average.
        bonds: the share of bonds in rings that lie in one cluster.
        match: how well clusters and rings agree on pairs of ring atoms: the harmonic mean of the
            share of pairs of one ring that are in one cluster, and the reverse.
        clusters: how many clusters a molecule has, on average.
    """

    rings: int
    whole: float
    pieces: float
    bonds: float
    match: float
    clusters: float


def count_rings(molecules: Sequence[Molecule], labels: Sequence[Ints]) -> RingCount:
    """Counts what the clusters of every molecule leave of its rings.

    Example:
        >>> hexagon = Molecule.of(6, np.array([[i, (i + 1) % 6] for i in range(6)]))
        >>> count = count_rings([hexagon, hexagon], [np.zeros(6, int), np.arange(6) // 3])
        >>> count.whole, count.pieces, round(count.bonds, 3), round(count.match, 3), count.clusters
        (0.5, 1.5, 0.833, 0.824, 1.5)
    """
    pairs = list(zip(molecules, labels, strict=True))
    pieces = [count for molecule, mine in pairs for count in molecule.pieces(mine)]
    bonds = [mine[molecule.ring_bonds] for molecule, mine in pairs]
    kept = np.concatenate([ends[:, 0] == ends[:, 1] for ends in bonds])
    both = clustered = ringed = 0
    for molecule, mine in pairs:
        same_ring, among = molecule.same_ring, molecule.in_ring
        alike = (mine[:, None] == mine) & among[:, None] & among
        both += int((same_ring & alike).sum()) - int(among.sum())  # an atom is no pair
        clustered += int(alike.sum()) - int(among.sum())
        ringed += int(same_ring.sum()) - int(among.sum())
    return RingCount(
        rings=len(pieces),
        whole=_mean(np.array(pieces) == 1),
        pieces=_mean(np.array(pieces)),
        bonds=_mean(kept),
        match=2 * both / max(clustered + ringed, 1),
        clusters=_mean(np.array([len(np.unique(mine)) for mine in labels])),
    )


def shuffled(labels: Sequence[Ints], seed: int = 0) -> list[Ints]:
    """The same clusters after the atoms of every molecule have changed places at random."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(mine) for mine in labels]


def _mean(values: NDArray[np.generic]) -> float:
    return float(values.mean()) if len(values) else float("nan")
