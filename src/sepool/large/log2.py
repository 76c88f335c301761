"""Binary logarithms in SQL, by operations that round the same on every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EXPONENTS = 63
# log2(m) = 2 / ln 2 * (t + t^3/3 + t^5/5 + ...), t = (m - 1) / (m + 1) < 1/3: error below 1e-7.
SERIES = tuple(2.8853900817779268 / k for k in (1, 3, 5, 7, 9, 11))


def with_log2(query: str, columns: Sequence[str], logs: Mapping[str, str]) -> str:
    """Return a query with the columns of another one and the logarithms of expressions.

    Libraries round logarithms differently; sums, products, quotients and comparisons of doubles are
    the same everywhere. Expressions are at least 1, or 0, whose logarithm is any finite number.

    Args:
        query: SQL of a table.
        columns: its columns that stay.
        logs: an expression in its columns by the name of the logarithm.
    """
    stay = ", ".join(columns)
    sizes = ", ".join(f"CAST({value} AS DOUBLE) AS {name}_x" for name, value in logs.items())
    parts = ", ".join(
        f"{name}_x * {_case(f'{name}_x', inverse=True)} AS {name}_m, "
        f"{_case(f'{name}_x', inverse=False)} AS {name}_e"
        for name in logs
    )
    ratios = ", ".join(
        f"({name}_m - {double(1)}) / ({name}_m + {double(1)}) AS {name}_t, {name}_e"
        for name in logs
    )
    values = ", ".join(f"{name}_e + {_series(f'{name}_t')} AS {name}" for name in logs)
    inner = f"SELECT {stay}, {sizes} FROM ({query}) AS q0"
    inner = f"SELECT {stay}, {parts} FROM ({inner}) AS q1"
    inner = f"SELECT {stay}, {ratios} FROM ({inner}) AS q2"
    return f"SELECT {stay}, {values} FROM ({inner}) AS q3"


def double(value: float) -> str:
    """Return a literal that is a double on every engine; without exponent Spark reads a decimal."""
    return f"{value:.17e}"


def _case(x: str, *, inverse: bool) -> str:
    """Return the whole part of the logarithm, or the power of two that takes ``x`` to [1, 2)."""
    values = [2.0**-k if inverse else float(k) for k in range(EXPONENTS)]
    branches = " ".join(
        f"WHEN {x} < {double(2.0 ** (k + 1))} THEN {double(value)}"
        for k, value in enumerate(values[:-1])
    )
    return f"CASE {branches} ELSE {double(values[-1])} END"


def _series(t: str) -> str:
    text = double(SERIES[-1])
    for factor in SERIES[-2::-1]:
        text = f"({double(factor)} + ({t} * {t}) * {text})"
    return f"{t} * {text}"


def log2(x: float) -> float:
    """Return the logarithm of a number of at least 1 by the same operations.

    Example:
        >>> log2(8.0), round(log2(10.0), 6)
        (3.0, 3.321928)
    """
    exponent = next((k for k in range(EXPONENTS - 1) if x < 2.0 ** (k + 1)), EXPONENTS - 1)
    m = x * 2.0**-exponent
    t = (m - 1.0) / (m + 1.0)
    value = SERIES[-1]
    for factor in SERIES[-2::-1]:
        value = factor + (t * t) * value
    return exponent + t * value
