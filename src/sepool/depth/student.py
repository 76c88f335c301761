"""Tail probabilities of Student's t distribution, for the comparison with a few rewired graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tail(t: Floats, freedom: int) -> Floats:
    """Return the probability that a variable of Student's t distribution exceeds ``t``.

    The finite sums of Abramowitz and Stegun (26.7.3 and 26.7.4).

    Example:
        >>> tail(np.array([0.0, 2.093]), 19).round(3)
        array([0.5  , 0.025])
    """
    angle = np.arctan(np.asarray(t, np.float64) / np.sqrt(freedom))
    cosine, sine = np.cos(angle), np.sin(angle)
    odd = freedom % 2
    term = cosine.copy() if odd else np.ones_like(cosine)
    total = np.zeros_like(cosine)
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    inside = 2 / np.pi * (angle + sine * total) if odd else sine * total
    above: Floats = np.clip((1 - inside) / 2, 0, 1)
    return above


def p_values(observed: Floats, sample: Floats) -> Floats:
    """Return the probability of such an observation where the sample (a row each) is of chance.

    Without variation in the sample, an observation is as probable as not.
    """
    count = len(sample)
    spread = sample.std(axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    excess = observed - sample.mean(axis=0)
    certain = np.maximum(1e-9, 1e-9 * np.abs(observed))
    t = np.divide(excess, spread, out=np.zeros_like(excess), where=spread > certain)
    return tail(t, count - 1)


def discoveries(p: Floats, rate: float) -> NDArray[np.bool_]:
    """Return the tests that Benjamini and Hochberg's procedure accepts at a false discovery rate.

    Example:
        >>> discoveries(np.array([0.001, 0.04, 0.5]), rate=0.05)
        array([ True, False, False])
    """
    order = np.argsort(p, kind="stable")
    limits = rate * np.arange(1, len(p) + 1) / max(len(p), 1)
    passed = np.flatnonzero(p[order] <= limits)
    out = np.zeros(len(p), np.bool_)
    if len(passed):
        out[order[: passed[-1] + 1]] = True
    return out
