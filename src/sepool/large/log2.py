"""Binary logarithms in SQL, by operations that round the same on every engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Apart = Callable[[str], str]

EXPONENTS, _STEP = 64, 8  # exponents 0 to 63, a multiple of 8 and the rest
# log2(m) = 2 / ln 2 * (t + t^3/3 + t^5/5 + ...), t = (m - 1) / (m + 1) < 1/3: error below 1e-7.
SERIES = tuple(2.8853900817779268 / k for k in (1, 3, 5, 7, 9, 11))


def with_log2(query: str, columns: Sequence[str], logs: Mapping[str, str], apart: Apart) -> str:
    """Return a query with the columns of another one and the logarithms of expressions.

    Libraries round logarithms differently; sums, products, quotients and comparisons of doubles are
    the same everywhere. Expressions are at least 1, or 0, whose logarithm is any finite number.

    Args:
        query: SQL of a table.
        columns: its columns that stay.
        logs: an expression in its columns by the name of the logarithm.
        apart: `sepool.large.engine.Engine.apart`, for the steps.
    """
    stay = ", ".join(columns)
    sizes = ", ".join(f"CAST({value} AS DOUBLE) AS {name}_x" for name, value in logs.items())
    coarse = ", ".join(_scaled(f"{name}_x", f"{name}_y", f"{name}_d", _STEP) for name in logs)
    fine = ", ".join(
        f"{_scaled(f'{name}_y', f'{name}_m', f'{name}_e', 1)}, {name}_d" for name in logs
    )
    ratios = ", ".join(
        f"({name}_m - {double(1)}) / ({name}_m + {double(1)}) AS {name}_t, "
        f"{name}_d + {name}_e AS {name}_e"
        for name in logs
    )
    values = ", ".join(f"{name}_e + {_series(f'{name}_t')} AS {name}" for name in logs)
    inner = f"SELECT {stay}, {sizes} FROM ({query}) AS q"
    for number, columns_of in enumerate((coarse, fine, ratios, values), 1):
        inner = f"SELECT {stay}, {columns_of} FROM {apart(inner)} AS q{number}"
    return inner


def double(value: float) -> str:
    """Return a literal that is a double on every engine; without exponent Spark reads a decimal."""
    return f"{value:.17e}"


def _scaled(x: str, ratio: str, exponent: str, step: int) -> str:
    """Return the columns of ``x`` by a power of two, and of its exponent, a multiple of a step.

    Two steps instead of 63 branches: Spark compiles no function of more than 64 KB.
    """
    exponents = [step * k for k in range(_STEP)]
    limits = [double(2.0 ** (k + step)) for k in exponents[:-1]]

    def case(results: list[float]) -> str:
        pairs = zip(limits, map(double, results), strict=False)
        branches = " ".join(f"WHEN {x} < {limit} THEN {result}" for limit, result in pairs)
        return f"CASE {branches} ELSE {double(results[-1])} END"

    powers = case([2.0**-k for k in exponents])
    return f"{x} * {powers} AS {ratio}, {case([float(k) for k in exponents])} AS {exponent}"


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
