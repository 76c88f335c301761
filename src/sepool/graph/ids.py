"""Numbers of nodes, from ids or names; whole numbers are ordered, names by first appearance."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Ids, Names

# A whole number as programs write it: 007 and +7 are names.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


def is_whole(name: str) -> bool:
    """Return True if a name is a whole number of 64 bits, the only ids that count as numbers."""
    return _WHOLE.fullmatch(name) is not None and -(2**63) <= int(name) < 2**63


def rank_ids(*columns: Ids) -> tuple[list[Ids], int, Names | None]:
    """Return the rank of every id, the number of ids, and the ids in order.

    The ids are None, and the columns stay as they are, if they are 0, 1, 2, ... without a gap.
    """
    used = [ids for ids in columns if ids.size]
    if not used:
        return list(columns), 0, None
    low, high = min(int(ids.min()) for ids in used), max(int(ids.max()) for ids in used)
    if low >= 0 and high <= 4 * sum(map(len, used)):  # dense: a table is faster than sorting
        occurs = np.zeros(high + 1, np.bool_)
        for ids in used:
            occurs[ids] = True
        if occurs.all():
            return list(columns), high + 1, None
        values, number = np.flatnonzero(occurs), np.cumsum(occurs) - 1
        return [number[ids] for ids in columns], len(values), tuple(values.tolist())
    values, rank = np.unique(np.concatenate(columns), return_inverse=True)
    ends = np.cumsum([len(ids) for ids in columns])[:-1]
    plain = values[0] == 0 and values[-1] == len(values) - 1
    return np.split(rank, ends), len(values), None if plain else tuple(values.tolist())


def rank_codes(u: NDArray[Any], v: NDArray[Any], count: int) -> tuple[Ids, Ids, NDArray[Any]]:
    """Return codes below ``count`` numbered by first appearance, row by row, and their order."""
    ends = np.stack([u, v]).astype(np.int64, copy=False)
    by_row = ends.T.ravel()
    first = np.full(count, len(by_row))
    first[by_row[::-1]] = np.arange(len(by_row))[::-1]  # of several values the last stays
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(by_row))]
    number = np.empty(count, np.int64)
    number[order] = np.arange(len(order))
    a, b = number[ends]
    return a, b, order


def name_nodes(
    names: Sequence[Hashable], u: Ids, v: Ids, *, text: bool = False
) -> tuple[Ids, Ids, Names | None]:
    """Return the edges of nodes with these names; names that are all whole numbers sort them.

    With ``text`` names such as "7" are whole numbers, too.
    """
    if text and all(is_whole(str(name)) for name in names):
        names = [int(str(name)) for name in names]
    whole = all(isinstance(name, int) and -(2**63) <= name < 2**63 for name in names)
    if not (names and whole):
        return u, v, tuple(names)
    (rank,), _, ids = rank_ids(np.array(names, np.int64))
    return rank[u], rank[v], ids
