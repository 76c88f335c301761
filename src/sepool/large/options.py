"""Options of a search over tables, checked before any work."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sepool.arguments import checked_threads, one_of, whole_number
from sepool.large.result import Report

ENGINES = ("duckdb", "spark")
BYTES_PER_EDGE = 120  # of the search in memory, with the tables that it reads
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

Progress = Callable[[Report], None]


@dataclass(frozen=True)
class Options:
    """Options that determine the labels, or the engine that computes them.

    Attributes:
        height: level of the root; None for the depth that the contracted graph supports.
        memory: bytes for the tables of the engine, and for the graph that is searched natively.
        engine: one of `ENGINES`.
        threads: number of threads, 0 for all cores.
        columns: names of the columns of both ends and perhaps the weight.
        weighted: False to ignore a column of weights.
        scale: factor that makes weights whole numbers; None for 1.
        master: URL of the Spark cluster.
    """

    height: int | None
    memory: int
    engine: str
    threads: int
    columns: tuple[str, ...] | None
    weighted: bool
    scale: float | None
    master: str | None

    def __post_init__(self) -> None:
        one_of("engine", self.engine, ENGINES)
        if self.height is not None:
            whole_number("height", self.height, 1, 64)
        checked_threads(self.threads or None)
        if self.scale is not None and not 0 < self.scale < 1e15:
            raise ValueError(f"scale must be a positive number below 1e15, got {self.scale}")
        if self.master is not None and self.engine != "spark":
            raise ValueError(f"master={self.master!r} goes with engine='spark'; leave it out")

    @property
    def max_edges(self) -> int:
        """Number of edges whose search fits into the memory."""
        return self.memory // BYTES_PER_EDGE


def memory_bytes(memory: str | int) -> int:
    """Return a size in bytes.

    Example:
        >>> memory_bytes("2GB"), memory_bytes("1.5 MiB"), memory_bytes(1000)
        (2000000000, 1572864, 1000)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    if match is None:
        raise ValueError(f"memory must be a size such as '2GB' or '500MB', got {memory!r}")
    unit = _UNITS[match[2]]
    if match[3]:
        unit = 1024 ** list(_UNITS).index(match[2])
    size = int(float(match[1]) * unit)
    if size < 1:
        raise ValueError(f"memory must be at least one byte, got {memory!r}")
    return size
