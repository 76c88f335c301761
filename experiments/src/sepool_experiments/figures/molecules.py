"""A molecule as chemists draw it, coloured by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from sepool.viz.colours import GREY, PALETTE
from sepool_experiments.figures.rings import Molecule

MORE = ("#ddcc77", "#332288", "#117733", "#aa4499", "#44aa99", "#661100", "#6699cc", "#888888")


def places_of(molecule: Molecule) -> NDArray[np.float64]:
    """Where the atoms are drawn: distances follow the bonds, the longer side lies flat.

    Example:
        >>> places_of(Molecule.of(3, np.array([[0, 1], [1, 2]]))).shape
        (3, 2)
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(molecule.atoms))
    graph.add_edges_from(molecule.bonds.tolist())
    # Atoms of one ring are pulled into a regular polygon: chords are as long as they are there.
    apart = dict(nx.all_pairs_shortest_path_length(graph))
    wanted = {a: {b: float(d) for b, d in row.items()} for a, row in apart.items()}
    for ring in molecule.rings:
        size = len(ring)
        for a in ring:
            for b in ring:
                steps = apart[a][b]
                if a != b and steps <= size // 2:
                    wanted[a][b] = np.sin(np.pi * steps / size) / np.sin(np.pi / size)
    found = nx.kamada_kawai_layout(graph, dist=wanted, pos=nx.circular_layout(graph))
    places = np.array([found[atom] for atom in range(molecule.atoms)], float)
    places -= places.mean(0)
    if len(places) > 2:
        places = places @ np.linalg.svd(places, full_matrices=False)[2].T
    lengths = np.linalg.norm(np.diff(places[molecule.bonds], axis=1), axis=2)
    return np.asarray(places / (lengths.mean() if len(lengths) else 1.0))


def draw_molecule(
    axis: Axes, molecule: Molecule, labels: NDArray[np.int64], letters: Sequence[str]
) -> None:
    """Atoms coloured by cluster; a bond inside a cluster is thick, one between two is thin."""
    places = places_of(molecule)
    _, colour = np.unique(labels, return_inverse=True)
    colours = [(*PALETTE, *MORE)[number % (len(PALETTE) + len(MORE))] for number in colour]
    for a, b in molecule.bonds.tolist():
        same = labels[a] == labels[b]
        style = {"color": colours[a], "lw": 5} if same else {"color": GREY, "lw": 1.2, "ls": ":"}
        axis.plot(*places[[a, b]].T, solid_capstyle="round", zorder=1, **style)
    axis.scatter(
        places[:, 0], places[:, 1], s=120, c=colours, edgecolors="white", linewidths=1, zorder=2
    )
    for (x, y), letter in zip(places, letters, strict=True):
        axis.text(x, y, letter, **_LETTER)
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)
    axis.axis("off")


_LETTER: dict[str, Any] = {
    **{"ha": "center", "va": "center", "color": "white"},
    **{"fontsize": 7, "fontweight": "bold", "zorder": 3},
}
