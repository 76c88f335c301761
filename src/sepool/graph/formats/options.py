"""Options of the readers of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sepool.graph.columns import checked_columns
from sepool.graph.edges import WEIGHT


@dataclass(frozen=True)
class FileOptions:
    """Options of `read_file`.

    Attributes:
        file_format: one of `sepool.graph.formats.detect.FORMATS`; None for the ending or content.
        columns: names of the columns of a table with the ends and the weight, or their numbers
            from 1; of formats with edge attributes the third is the attribute of the weights.
        weight: name of the column or attribute of the weights; None ignores them.
        symmetrise: let every arc of a directed graph count as an undirected edge.
    """

    file_format: str | None = None
    columns: Sequence[Any] | None = None  # strings; others are refused
    weight: str | None = WEIGHT
    symmetrise: bool = False

    def __post_init__(self) -> None:
        if self.columns is None:
            return
        if not all(isinstance(name, str) for name in checked_columns(self.columns)):
            raise TypeError(f"columns of a file must be text, got {self.columns!r}")

    @property
    def attribute(self) -> str | None:
        """Name of the edge attribute of the weights."""
        if self.weight is None or self.columns is None:
            return self.weight
        return str(self.columns[2]) if len(self.columns) == 3 else None
