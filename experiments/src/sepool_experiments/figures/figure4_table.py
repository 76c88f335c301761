"""Table of figure 4: rings of molecules inside clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sepool_experiments.figures.journal import Row, by_line
from sepool_experiments.protocols.figures import TREE_SYSTEM, Figure
from sepool_experiments.protocols.units import Unit
from sepool_experiments.tables import MISSING, Record, Table
from sepool_experiments.tables import figure as text_of

COLUMNS = {
    "whole": "rings whole",
    "whole_by_chance": "by chance",
    "bonds": "bonds whole",
    "bonds_by_chance": "by chance",
    "match": "match",
    "match_by_chance": "by chance",
    "pieces": "pieces a ring",
    "clusters": "clusters",
}


def line_name(unit: Unit) -> str:
    """Return the name of a unit's line in the table.

    >>> from sepool_experiments.protocols.figures import FIGURE4
    >>> [line_name(group[0]) for group in by_line(FIGURE4.units(trees=["best"]))][1:3]
    ['MinCutPool', 'SEP (best), height 3, level 1']
    """
    if unit.system != TREE_SYSTEM:
        return unit.system
    extra = dict(unit.config.extra)
    return f"SEP ({unit.tree}), height {extra['height']}, level {extra['level']}"


def table(figure: Figure, rows: Sequence[Row]) -> Table:
    """Return the agreement of the clusters of every method with rings."""
    lines: list[tuple[str, ...]] = []
    records: list[Record] = []
    for name in dict.fromkeys(line_name(units[0]) for units in by_line(figure.units())):
        own = [row for row in rows if line_name(row.unit) == name]
        record: Record = {"system": name, "models": len(own)}
        cells = [name, str(len(own))]
        for column in COLUMNS:
            mean, spread = mean_of(own, column)
            record |= {column: mean, f"{column}_std": spread}
            cells.append(text_of(mean, spread))
        lines.append(tuple(cells))
        records.append(record)
    rings = next((row.measured["rings"] for row in rows), MISSING)
    return Table(
        name=figure.name,
        title=f"{figure.title}: {rings} rings of {figure.datasets[0]}",
        note=(
            "Rings whole: share in percent that lies in one cluster. Bonds whole: share in percent "
            "of the bonds in rings whose ends lie in one cluster. Match: agreement in percent of "
            "clusters and rings on pairs of ring atoms (harmonic mean of the share of pairs of one "
            "ring that are in one cluster, and the reverse): torn rings lower it, and so do rings "
            "that share a cluster. Fused rings share atoms: both are whole only in one cluster. By "
            "chance: the same after the atoms of a molecule change places at random, which keeps "
            "the sizes of the clusters. Pieces: clusters over which a ring is spread. "
            "Clusters: in use, a molecule. Means over all molecules, ± the standard deviation over "
            "models (one a fold). DiffPool and MinCutPool: the most likely cluster, of models "
            "trained to classify, with a quarter as many clusters as molecules have atoms on "
            "average. SEP: level 1 of height 3 is the first pooling of SEP-G; paper: Algorithm 1 "
            "as written; random: the lowest-entropy trees with their leaves permuted."
        ),
        header=("system", "models", *COLUMNS.values()),
        rows=tuple(lines),
        records=tuple(records),
    )


def mean_of(rows: Sequence[Row], column: str) -> tuple[float, float]:
    """Return mean and standard deviation over models, shares in percent; NaN if undefined."""
    scale = 1 if column in ("pieces", "clusters") else 100
    values = scale * np.array([row.measured[column] for row in rows], float)
    mean = float(values.mean()) if len(values) else np.nan
    return mean, float(values.std(ddof=1)) if len(values) > 1 else np.nan
