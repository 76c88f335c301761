"""Choice of the columns of a table of edges: two ends and a weight."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from sepool.graph.edges import WEIGHT

# Customary names of the ends, in lower case; these are no nodes in the first line of a text file.
HEADERS = (
    *(("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid")),
    *(("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"), ("id_1", "id_2")),
)
_OTHER_ENDS = (("source_id", "target_id"), ("start", "end"), ("u", "v"), ("i", "j"))
WEIGHTS = (WEIGHT, "weights", "w", "value", "count")


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of the two ends and, if edges have weights, of the weights.

    Attributes:
        names: of all columns.
        places: positions of the two ends and of the weights.
    """

    names: tuple[Hashable, ...]
    places: tuple[int, ...]

    @property
    def chosen(self) -> list[Any]:
        """Names of the chosen columns."""
        return [self.names[place] for place in self.places]

    @property
    def note(self) -> str:
        """The choice in words.

        Example:
            >>> choose_columns(("id", "Source", "Target", "Weight"), None, "weight").note
            'columns Source, Target, Weight; ignored id'
        """
        rest = [name for place, name in enumerate(self.names) if place not in self.places]
        note = f"columns {_listed(self.chosen)}" + "; no weights" * (len(self.places) < 3)
        return f"{note}; ignored {_listed(rest)}" if rest else note


def choose_columns(
    names: Sequence[Hashable],
    columns: Sequence[Hashable] | None,
    weight: str | None,
    *,
    header: bool = True,
) -> EdgeColumns:
    """Choose the columns of a table's edges.

    Names in the wrong case and numbers from 1 are accepted where no column has that very name.

    Args:
        names: of all columns, 1, 2, 3, ... without a header.
        columns: (source, target) or (source, target, weight); None chooses by customary names, or
            the first two if there are no others but a weight.
        weight: the column of the weights; the default stands for the customary names, too.
        header: the names are those of the table.

    Example:
        >>> choose_columns(["date", "src", "dst", "weight"], None, "weight").chosen
        ['src', 'dst', 'weight']
    """
    if columns is None:
        ends = _customary_ends(names, weight, header)
        places = [*ends, *_weight_place(names, weight, ends, header)]
    else:
        places = [_place(name, names) for name in checked_columns(columns)]
        if weight not in (None, WEIGHT):
            place = _place(weight, names)
            if place not in places[2:] and len(places) == 3:
                raise ValueError(
                    f"columns= has the weights in {columns[2]!r}, weight= in {weight!r}; pass one"
                )
            places[2:] = [place]
        elif weight is None:
            del places[2:]
    if len(set(places)) < len(places):
        raise ValueError(f"a column is chosen twice; the columns are {_listed(names)}")
    same: list[Any] = _words(names) if columns is None else list(names)  # customary in any case
    for place in places:
        if same.count(same[place]) > 1:
            raise ValueError(f"the table has several columns {names[place]!r}; rename them")
    return EdgeColumns(tuple(names), tuple(places))


def checked_columns(columns: Any) -> Sequence[Hashable]:
    """Return names of columns; fail on other than two or three."""
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise TypeError(
            "columns must be the names (source, target) or (source, target, weight), got "
            f"{columns!r}"
        )
    if len(columns) not in (2, 3):
        raise ValueError(
            f"columns must be two ends and perhaps a weight, got {_listed(columns) or 'none'}"
        )
    return columns


def _customary_ends(names: Sequence[Hashable], weight: str | None, header: bool) -> list[int]:
    words = _words(names)
    for customary in (HEADERS, _OTHER_ENDS):
        pairs = [(one, other) for one, other in customary if one in words and other in words]
        if len(pairs) == 1:
            return [words.index(word) for word in pairs[0]]
        if pairs:
            raise ValueError(
                f"the ends of an edge could be {' or '.join(map(repr, pairs))}; choose one pair, "
                f"as in columns={pairs[0]!r} or --columns {','.join(pairs[0])}"
            )
    no_others = len(words) == 3 and (not header or words[2] in (*WEIGHTS, str(weight).lower()))
    if len(words) == 2 or no_others:
        return [0, 1]
    raise ValueError(
        "no customary names of two ends, such as source and target; the columns are "
        f"{_listed(names)}; choose two or three, as in columns=('source', 'target', 'weight') or "
        "--columns with commas"
    )


def _weight_place(
    names: Sequence[Hashable], weight: str | None, ends: list[int], header: bool
) -> list[int]:
    if weight is None:
        return []
    if weight != WEIGHT:
        return [_place(weight, names)]
    if not header:
        return list(range(2, len(names)))
    words = _words(names)
    fits = [place for place in range(len(words)) if words[place] in WEIGHTS and place not in ends]
    exact = [place for place in fits if words[place] == WEIGHT] or fits
    if len(exact) > 1:
        listed = _listed([names[place] for place in exact])
        raise ValueError(
            f"the weights could be in {listed}; choose one, as in weight={names[exact[0]]!r}, or "
            "with --columns"
        )
    return exact


def _place(name: Hashable, names: Sequence[Hashable]) -> int:
    if name in names:
        return list(names).index(name)
    if isinstance(name, str):
        words = _words(names)
        if words.count(name.strip().lower()) == 1:
            return words.index(name.strip().lower())
        if name.isdecimal() and 1 <= int(name) <= len(names):
            return int(name) - 1
    raise ValueError(f"no column {name!r}; the columns are {_listed(names)}")


def _words(names: Sequence[Hashable]) -> list[str]:
    return [str(name).strip().lower() for name in names]


def _listed(names: Sequence[Hashable]) -> str:
    return ", ".join(str(name) or "''" for name in names)
