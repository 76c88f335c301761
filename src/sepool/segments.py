"""Arithmetic of segments: parts of a flat array, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RUN = 1 << 16  # edges; so many stay in the processor's cache


def pointers(lengths: Sequence[int] | Ints) -> Ints:
    """Return the start of every segment and the end of the last.

    Example:
        >>> pointers([2, 0, 3])
        array([0, 2, 2, 5])
    """
    pointers = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=pointers[1:])
    return pointers


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return the indices of all elements of some segments.

    Example:
        >>> ranges(np.array([7, 0]), np.array([2, 3]))
        array([7, 8, 0, 1, 2])
    """
    ends = pointers(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])


def runs(lengths: Ints, size: int = RUN) -> Iterator[tuple[slice, slice]]:
    """Yield runs of segments of about ``size`` elements: their segments and their elements.

    Example:
        >>> list(runs(np.array([3, 4, 5]), size=6))
        [(slice(0, 2, None), slice(0, 7, None)), (slice(2, 3, None), slice(7, 12, None))]
    """
    ends = pointers(lengths)
    firsts = np.flatnonzero(np.diff(ends[:-1] // size, prepend=-1)).tolist()
    for a, b in pairwise([*firsts, len(lengths)]):
        yield slice(a, b), slice(int(ends[a]), int(ends[b]))


def sums(segment: NDArray[Any], values: NDArray[Any], count: int) -> Floats:
    """Return the sum of the values in each of ``count`` segments, whose elements lie anywhere.

    Example:
        >>> sums(np.array([1, 0, 1]), np.array([2.0, 3.0, 4.0]), 3)
        array([3., 6., 0.])
    """
    return np.bincount(segment, values, count).astype(np.float64, copy=False)


def renumbered(labels: NDArray[Any]) -> Ints:
    """Return non-negative labels as numbers from 0 without gaps, in the same order.

    Example:
        >>> renumbered(np.array([7, 2, 7, 4]))
        array([2, 0, 2, 1])
    """
    if labels.size and labels.max() >= 8 * labels.size:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(int(labels.max(initial=-1)) + 1, np.int64)
    used[labels] = 1
    numbers: Ints = (np.cumsum(used) - 1)[labels]
    return numbers


def common_parts(one: Ints, other: Ints) -> Ints:
    """Return the numbers of the common parts of two labellings.

    Example:
        >>> common_parts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
        array([0, 1, 2, 2])
    """
    return renumbered(one * (int(other.max()) + 1) + other)
