"""Table of scores, one row a clustering and level."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from sepool.extras import needs


@dataclass(frozen=True)
class Score:
    """Scores of one level of a clustering.

    Attributes:
        clustering: its name.
        level: of the clusters, 1 for the finest.
        clusters: number of clusters.
        entropy: structural entropy of the whole hierarchy, in bits; lower is better.
        flat_entropy: structural entropy of this level alone.
        modularity: see `sepool.scores.modularity.modularity`.
        conductance: mean over the clusters, see `sepool.scores.conductance.conductance`; lower is
            better.
        codelength: map equation of the whole hierarchy, in bits; lower is better.
        flat_codelength: two-level map equation of this level.
        ami: adjusted mutual information with the truth, None without a truth.
        nmi: normalised mutual information with the truth, None without a truth.
    """

    clustering: str
    level: int
    clusters: int
    entropy: float
    flat_entropy: float
    modularity: float
    conductance: float
    codelength: float
    flat_codelength: float
    ami: float | None = None
    nmi: float | None = None


_HEADINGS = {
    "entropy": "H",
    "flat_entropy": "flat H",
    "flat_codelength": "flat codelength",
    "ami": "AMI",
    "nmi": "NMI",
}


@dataclass(frozen=True)
class Comparison:
    """Scores of several clusterings of one graph; ``str`` is the table.

    Attributes:
        rows: one a clustering and level, in the order of the clusterings, finest level first.
        notes: formats of the files read, and anything decided about them.
    """

    rows: tuple[Score, ...]
    notes: tuple[str, ...] = ()

    def columns(self) -> list[str]:
        """Return the names of the columns; ``ami`` and ``nmi`` only with a truth."""
        names = [field.name for field in fields(Score)]
        compared = any(row.ami is not None for row in self.rows)
        return names if compared else names[:-2]

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary a row."""
        columns = self.columns()
        return [{name: asdict(row)[name] for name in columns} for row in self.rows]

    def to_frame(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row a clustering and level."""
        with needs("io", "to_frame"):
            import pandas as pd

        return pd.DataFrame(self.records(), columns=self.columns())

    def __str__(self) -> str:
        columns = self.columns()
        lines = [[_HEADINGS.get(name, name) for name in columns]]
        lines += [[_cell(value) for value in record.values()] for record in self.records()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        out = []
        for first, *rest in lines:
            cells = (x.rjust(width) for x, width in zip(rest, widths[1:], strict=True))
            out.append("  ".join([first.ljust(widths[0]), *cells]))
        return "\n".join(out)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4f}".replace("-0.0000", "0.0000")
    return f"{value:,}" if isinstance(value, int) else str(value)
