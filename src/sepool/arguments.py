"""Checks of arguments: one of a few words, a whole number within limits."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return the value, if it is allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return the value as a Python integer, if it is a whole number within the limits."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"{low} to {high}"
        raise ValueError(f"{name} must be {limits}, got {number}")
    return number


def checked_seed(seed: Any) -> int:
    """Return the seed of a search, if it is one."""
    return whole_number("seed", seed, 0, 2**63 - 1)


def checked_threads(num_threads: Any) -> int:
    """Return the number of threads, 0 for all cores."""
    return 0 if num_threads is None else whole_number("num_threads", num_threads, 1, 4096)
