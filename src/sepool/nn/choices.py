"""Arguments that are one of a few words."""

from __future__ import annotations

REDUCTIONS = ("sum", "mean", "max", "sym")
POOLED = ("weighted", "binary")
READOUTS = ("sum", "mean")
INITS = ("glorot", "torch")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value, if it is allowed.

    >>> one_of("readout", "average", READOUTS)
    Traceback (most recent call last):
    ValueError: readout must be one of sum, mean, got 'average'
    """
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return value
