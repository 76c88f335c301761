"""Notes on stderr about the reading of a graph file, and names of its columns."""

from __future__ import annotations

import csv
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sepool.graph.edges import Edges
from sepool.graph.graph import Graph


class _Printer(logging.Handler):
    """Prints the notes of readers on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"note: {record.getMessage()}", file=sys.stderr)


@contextmanager
def printed_notes() -> Iterator[None]:
    """Print the decisions of readers, which they log, on stderr."""
    logger, printer = logging.getLogger("sepool"), _Printer(logging.INFO)
    level = logger.level
    logger.addHandler(printer)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(printer)


def note_arcs(path: str, edges: Edges, graph: Graph) -> None:
    """Say on stderr how many edges a file lists in both directions: it may be one of arcs."""
    u, v = edges.u.astype(np.int64), edges.v.astype(np.int64)
    if edges.both or np.count_nonzero(u != v) == graph.num_edges:
        return
    ahead, back = u * edges.num_nodes + v, v * edges.num_nodes + u
    number = np.unique(ahead[(u < v) & np.isin(ahead, back)]).size
    if number:
        print(
            f"note: {path} lists {number:,} edge{'s' * (number > 1)} in both directions, whose "
            "weights add up; for arcs choose --directed flow, or --directed symmetrise to hide "
            "this note",
            file=sys.stderr,
        )


def column_names(text: str) -> list[str]:
    """Return the names in a line with commas.

    >>> column_names('from, "to, at last"')
    ['from', 'to, at last']
    """
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
