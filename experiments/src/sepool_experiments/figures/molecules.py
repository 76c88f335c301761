"""Molecules, their rings, and drawings coloured by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from sepool.viz.colours import GREY, PALETTE

Ints = NDArray[np.int64]
MORE_COLOURS = (
    *("#ddcc77", "#332288", "#117733", "#aa4499"),
    *("#44aa99", "#661100", "#6699cc", "#888888"),
)
LETTER_STYLE: dict[str, Any] = {
    **{"ha": "center", "va": "center", "color": "white"},
    **{"fontsize": 7, "fontweight": "bold", "zorder": 3},
}


@dataclass(frozen=True, eq=False)
class Molecule:
    """A molecule: number of atoms, bonds (each once), and rings.

    The rings are a minimum cycle basis: two fused rings without the cycle around both.
    """

    atoms: int
    bonds: Ints
    rings: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, atoms: int, bonds: Ints) -> Molecule:
        """Create a molecule and find its rings."""
        graph = _as_networkx(atoms, bonds)
        rings = sorted(tuple(sorted(ring)) for ring in nx.minimum_cycle_basis(graph))
        return cls(atoms, np.asarray(bonds, np.int64).reshape(-1, 2), tuple(rings))

    @cached_property
    def same_ring(self) -> NDArray[np.bool_]:
        """Mask of the pairs of atoms in one ring, with the diagonal."""
        same = np.zeros((self.atoms, self.atoms), bool)
        for ring in self.rings:
            same[np.ix_(ring, ring)] = True
        return same

    @property
    def in_ring(self) -> NDArray[np.bool_]:
        """Mask of the atoms in a ring."""
        return np.asarray(self.same_ring.diagonal())

    @property
    def ring_bonds(self) -> Ints:
        """Bonds between two atoms of one ring."""
        return self.bonds[self.same_ring[self.bonds[:, 0], self.bonds[:, 1]]]

    def pieces(self, labels: Ints) -> list[int]:
        """Return the number of clusters of every ring."""
        return [len(np.unique(labels[list(ring)])) for ring in self.rings]


@dataclass(frozen=True)
class RingCount:
    """Agreement of a clustering of molecules with their rings.

    One cluster for a whole molecule splits no ring, but separates none either: ``match`` is lowered
    by split rings and by two rings in one cluster.

    Attributes:
        rings: number of rings.
        whole: share of the rings inside one cluster.
        pieces: mean number of clusters a ring.
        bonds: share of the bonds in rings inside one cluster.
        match: agreement on pairs of ring atoms: harmonic mean of the share of pairs of one ring
            that are in one cluster, and the reverse.
        clusters: mean number of clusters a molecule.
    """

    rings: int
    whole: float
    pieces: float
    bonds: float
    match: float
    clusters: float


def count_rings(molecules: Sequence[Molecule], labels: Sequence[Ints]) -> RingCount:
    """Count split and whole rings over many molecules."""
    pairs = list(zip(molecules, labels, strict=True))
    pieces = [count for molecule, cluster in pairs for count in molecule.pieces(cluster)]
    bonds = [cluster[molecule.ring_bonds] for molecule, cluster in pairs]
    inside = np.concatenate([ends[:, 0] == ends[:, 1] for ends in bonds])
    both = clustered = ringed = 0
    for molecule, cluster in pairs:
        same_ring, in_ring = molecule.same_ring, molecule.in_ring
        same_cluster = (cluster[:, None] == cluster) & in_ring[:, None] & in_ring
        diagonal = int(in_ring.sum())
        both += int((same_ring & same_cluster).sum()) - diagonal
        clustered += int(same_cluster.sum()) - diagonal
        ringed += int(same_ring.sum()) - diagonal
    return RingCount(
        rings=len(pieces),
        whole=_mean(np.array(pieces) == 1),
        pieces=_mean(np.array(pieces)),
        bonds=_mean(inside),
        match=2 * both / max(clustered + ringed, 1),
        clusters=_mean(np.array([len(np.unique(cluster)) for cluster in labels])),
    )


def shuffled(labels: Sequence[Ints], seed: int = 0) -> list[Ints]:
    """Permute the labels of the atoms of every molecule at random."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(cluster) for cluster in labels]


def _mean(values: NDArray[np.generic]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _as_networkx(atoms: int, bonds: Ints) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(atoms))
    graph.add_edges_from(bonds.tolist())
    return graph


def layout(molecule: Molecule) -> NDArray[np.float64]:
    """Return positions of the atoms: distances follow the bonds, the long axis is horizontal."""
    graph = _as_networkx(molecule.atoms, molecule.bonds)
    # Atoms of one ring have the distances of a regular polygon.
    steps_of = dict(nx.all_pairs_shortest_path_length(graph))
    distances = {a: {b: float(d) for b, d in row.items()} for a, row in steps_of.items()}
    for ring in molecule.rings:
        size = len(ring)
        for a in ring:
            for b in ring:
                steps = steps_of[a][b]
                if a != b and steps <= size // 2:
                    distances[a][b] = np.sin(np.pi * steps / size) / np.sin(np.pi / size)
    by_atom = nx.kamada_kawai_layout(graph, dist=distances, pos=nx.circular_layout(graph))
    places = np.array([by_atom[atom] for atom in range(molecule.atoms)], float)
    places -= places.mean(0)
    if len(places) > 2:
        places = places @ np.linalg.svd(places, full_matrices=False)[2].T
    lengths = np.linalg.norm(np.diff(places[molecule.bonds], axis=1), axis=2)
    return np.asarray(places / (lengths.mean() if len(lengths) else 1.0))


def draw_molecule(
    axis: Axes, molecule: Molecule, labels: NDArray[np.int64], letters: Sequence[str]
) -> None:
    """Draw atoms coloured by cluster, with thick bonds inside clusters and thin ones between."""
    places = layout(molecule)
    _, colour = np.unique(labels, return_inverse=True)
    palette = (*PALETTE, *MORE_COLOURS)
    colours = [palette[number % len(palette)] for number in colour]
    for a, b in molecule.bonds.tolist():
        same = labels[a] == labels[b]
        style = {"color": colours[a], "lw": 5} if same else {"color": GREY, "lw": 1.2, "ls": ":"}
        axis.plot(*places[[a, b]].T, solid_capstyle="round", zorder=1, **style)
    axis.scatter(
        places[:, 0], places[:, 1], s=120, c=colours, edgecolors="white", linewidths=1, zorder=2
    )
    for (x, y), letter in zip(places, letters, strict=True):
        axis.text(x, y, letter, **LETTER_STYLE)
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)
    axis.axis("off")
