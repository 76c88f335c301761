"""Figure 4: clusters of molecules after the first pooling, and the share of whole rings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.viz.colours import INK
from sepool.viz.drawing import new_figure
from sepool_experiments.data.graphs import GraphSet, load_graphs, load_trees
from sepool_experiments.figures.clusters import Labels, forest_labels, learn_clusters
from sepool_experiments.figures.figure4_table import line_name, mean_of
from sepool_experiments.figures.journal import Row, Trained, by_line, kept_arrays
from sepool_experiments.figures.molecules import (
    Molecule,
    RingCount,
    count_rings,
    draw_molecule,
    shuffled,
)
from sepool_experiments.protocols.figures import ONE_CLUSTER, TREE_SYSTEM, Figure
from sepool_experiments.protocols.units import Unit
from sepool_experiments.tables import MISSING

SHOWN = (2, 3, 4)  # numbers of rings of the drawn molecules
DRAWS = 20
CHANCE = ("whole", "bonds", "match")  # also measured after permuting the atoms
LETTERS = ("Br", "Cl", "C", "F", "I", "N", "O")  # of MUTAG's node labels


def train(units: Sequence[Unit], figure: Figure, root: Path, device: str) -> Iterator[Trained]:
    """Compute the clusters of units that differ in fold and seed alone, and count their rings."""
    graphs = load_graphs(root, units[0].dataset)
    molecules = molecules_of(graphs)
    for unit, labels, more in _clusters(units, figure, root, graphs, device):
        clusters = split(molecules, labels)
        count = count_rings(molecules, clusters)
        permuted = [count_rings(molecules, shuffled(clusters, seed)) for seed in range(DRAWS)]
        numbers = {name: round(value, 6) for name, value in asdict(count).items()}
        for name in CHANCE:
            numbers[f"{name}_by_chance"] = round(np.mean([getattr(c, name) for c in permuted]), 6)
        yield unit, {**numbers, **more}, labels, f"{count.whole:.1%} of {count.rings:,} rings whole"


def _clusters(
    units: Sequence[Unit], figure: Figure, root: Path, graphs: GraphSet, device: str
) -> Iterator[tuple[Unit, Labels, dict[str, Any]]]:
    """Yield the cluster of every atom, and what else was measured."""
    first = units[0]
    if first.system == ONE_CLUSTER:
        yield first, np.zeros(graphs.nodes.sum(), np.int64), {}
    elif first.system == TREE_SYSTEM:
        extra: dict[str, Any] = dict(first.config.extra)
        forest = load_trees(root, graphs, first.tree, extra["height"])
        yield first, forest_labels(forest, extra["level"]), {}
    else:
        for result, labels in learn_clusters(units, figure, root, device):
            accuracy = round(result.test_accuracy, 6)
            yield result.unit, labels, {"epochs": result.epochs, "test_accuracy": accuracy}


def molecules_of(graphs: GraphSet) -> list[Molecule]:
    """Return the molecules of a dataset."""
    bonds = graphs.edge_arrays()
    return [Molecule.of(int(n), pairs) for n, pairs in zip(graphs.nodes, bonds, strict=True)]


def split(molecules: Sequence[Molecule], values: NDArray[Any]) -> list[NDArray[Any]]:
    """Split values of all atoms by molecule."""
    return np.split(values, np.cumsum([molecule.atoms for molecule in molecules])[:-1])


def chosen(molecules: Sequence[Molecule]) -> list[int]:
    """Return the molecules to draw: for each number of rings, the first of median size."""
    indices = []
    for rings in SHOWN:
        candidates = [i for i, molecule in enumerate(molecules) if len(molecule.rings) == rings]
        if candidates:
            median = np.median([molecules[i].atoms for i in candidates])
            indices.append(min(candidates, key=lambda i: (abs(molecules[i].atoms - median), i)))
    return indices


def draw(out: Path, figure: Figure, rows: Sequence[Row], root: Path) -> Any:
    """Draw some molecules coloured by cluster, one column a method, with the share of rings."""
    (name,) = figure.datasets
    graphs = load_graphs(root, name)
    molecules = molecules_of(graphs)
    assert graphs.labels is not None
    letters = split(molecules, graphs.labels)
    arrays, shown = kept_arrays(out, figure, name), chosen(molecules)
    columns = [figure.units([name], [system])[0] for system in ("DiffPool", "MinCutPool")]
    columns += [units[0] for units in by_line(figure.units([name], [TREE_SYSTEM], ["best"]))][:2]
    drawn = new_figure(2.9 * len(columns), 2.35 * len(shown) + 0.8)
    axes = drawn.subplots(len(shown), len(columns), squeeze=False)
    drawn.subplots_adjust(left=0.01, right=0.99, bottom=0.04, top=0.91, wspace=0.05, hspace=0.14)
    for unit, line in zip(columns, axes.T, strict=True):
        own = [row for row in rows if line_name(row.unit) == line_name(unit)]
        line[0].set_title(f"{line_name(unit)}\n{headline(own)}", fontsize=9, color=INK)
        labels = split(molecules, arrays[unit.key]) if unit.key in arrays else None
        for axis, i in zip(line, shown, strict=True):
            if labels is None:
                axis.axis("off")
                axis.text(0.5, 0.5, MISSING, transform=axis.transAxes, ha="center", color=INK)
                continue
            draw_molecule(axis, molecules[i], labels[i], [LETTERS[a] for a in letters[i]])
            text = caption(count_rings([molecules[i]], [labels[i]]))
            style: dict[str, Any] = {"ha": "center", "fontsize": 8, "color": INK}
            axis.text(0.5, -0.06, text, transform=axis.transAxes, **style)
    return drawn


def headline(rows: Sequence[Row]) -> str:
    """Return the share of whole rings of a method as text."""
    if not rows:
        return MISSING
    whole, match, clusters = (mean_of(rows, name)[0] for name in ("whole", "match", "clusters"))
    return f"{whole:.1f} % of rings whole, match {match:.1f} %\n{clusters:.1f} clusters a molecule"


def caption(count: RingCount) -> str:
    """Return the share of whole rings of a molecule as text."""
    rings = f"{round(count.whole * count.rings)} of {count.rings} rings whole"
    clusters = f"{count.clusters:.0f} cluster{'s' if count.clusters > 1 else ''}"
    return f"{rings}, {count.pieces:.1f} pieces a ring, {clusters}"
