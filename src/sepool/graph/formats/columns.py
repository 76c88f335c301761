"""Choice of the columns of a table: two ends and a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sepool.graph.edges import WEIGHT
from sepool.graph.formats.edge_line import HEADERS, WEIGHTS

_ENDS = (*HEADERS, ("source_id", "target_id"), ("start", "end"), ("u", "v"), ("i", "j"))


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
        columns = self.columns
        if columns is None:
            return
        if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
            raise TypeError(f"columns must be names, as in ('source', 'target'), got {columns!r}")
        if len(columns) not in (2, 3):
            raise ValueError(
                f"columns must be two ends and perhaps a weight, got {', '.join(columns) or 'none'}"
            )

    @property
    def attribute(self) -> str | None:
        """Name of the edge attribute of the weights."""
        if self.weight is None or self.columns is None:
            return self.weight
        return str(self.columns[2]) if len(self.columns) == 3 else None


@dataclass(frozen=True)
class Choice:
    """Positions of the chosen columns, and a description of the choice."""

    u: int
    v: int
    w: int | None
    note: str


def choose_columns(names: Sequence[str], options: FileOptions, *, header: bool = True) -> Choice:
    """Return the columns of the ends and of the weight.

    Args:
        names: of all columns, 1, 2, 3, ... without a header.
        options: names that the user chose, if any.
        header: the names are those of the file.

    Example:
        >>> choose_columns(("id", "Source", "Target", "Weight"), FileOptions()).note
        'columns Source, Target, Weight; ignored id'
    """
    if options.columns is not None:
        places = [_place(name, names) for name in options.columns]
    else:
        places = _customary(names, options, header)
    if len(set(places)) < len(places):
        raise ValueError(f"a column is chosen twice; {_listed(names)}")
    if options.weight is None:
        del places[2:]
    ignored = [name for place, name in enumerate(names) if place not in places]
    note = f"columns {', '.join(names[place] for place in places)}"
    note += "" if len(places) == 3 else "; no weights"
    note += f"; ignored {', '.join(map(_shown, ignored))}" if ignored else ""
    return Choice(places[0], places[1], places[2] if len(places) == 3 else None, note)


def _customary(names: Sequence[str], options: FileOptions, header: bool) -> list[int]:
    words = [name.strip().lower() for name in names]
    pairs = ([words.index(a), words.index(b)] for a, b in _ENDS if a in words and b in words)
    ends = next(pairs, None)
    if ends is None and (len(words) == 2 or (len(words) == 3 and not header)):
        ends = [0, 1]
    if ends is None and len(words) == 3 and words[2] in (*WEIGHTS, str(options.weight).lower()):
        ends = [0, 1]
    if ends is None:
        raise ValueError(
            f"no customary names of two ends, such as source and target; {_listed(names)}; choose "
            "two or three, as in columns=('source', 'target', 'weight') or --columns with commas"
        )
    if options.weight not in (None, WEIGHT):
        return [*ends, _place(str(options.weight), names)]
    if not header:
        return [*ends, *range(2, len(words))]
    weights = (words.index(name) for name in WEIGHTS if name in words)
    return [*ends, *(place for place in list(weights)[:1] if place not in ends)]


def _place(name: str, names: Sequence[str]) -> int:
    if name in names:
        return list(names).index(name)
    words = [word.strip().lower() for word in names]
    if words.count(name.strip().lower()) == 1:
        return words.index(name.strip().lower())
    if name.isdecimal() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise ValueError(f"no column {name!r}; {_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    return f"the columns are {', '.join(map(_shown, names))}"


def _shown(name: str) -> str:
    return name or "''"
