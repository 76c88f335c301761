"""Graphs from files of any format."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from importlib import import_module

from sepool.files.atomic import StrPath
from sepool.graph.edges import WEIGHT, DirectedGraph, Edges, NoSuchAttribute
from sepool.graph.formats.detect import checked_format, format_of, has_data
from sepool.graph.formats.dialect import sniff
from sepool.graph.formats.edge_list import read_edge_list, read_lines
from sepool.graph.formats.opening import BadLine, GraphFile, open_graph
from sepool.graph.formats.options import FileOptions

Reader = Callable[[GraphFile, FileOptions], Edges]
# Format: the function that reads it, in a module that is imported on use.
_READERS = {
    "csv": "separated:read_separated",
    "parquet": "parquet:read_parquet",
    "arrow": "parquet:read_arrow",
    "graphml": "graphml:read_graphml",
    "gml": "graphml:read_gml",
    "pajek": "graphml:read_pajek",
    "gexf": "graphml:read_gexf",
    "mtx": "matrix:read_mtx",
    "npz": "matrix:read_npz",
    "edgelist": "lists:read_data_list",
    "adjlist": "lists:read_adjacency_list",
}
_WITHOUT_ATTRIBUTES = ("mtx", "npz", "adjlist")


def read_file(path: StrPath, options: FileOptions) -> Edges:
    r"""Read a graph file; the format, or else the ending, or else the content has the reader.

    Decisions of the reader are logged as ``sepool`` at the level INFO.

    Raises:
        ValueError: the file is damaged or of another format, or a value is impossible.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "graph.csv")
        ...     _ = path.write_text("ann,bob,2.5\nbob,cleo,1\n")
        ...     read_file(path, FileOptions()).names
        ('ann', 'bob', 'cleo')
    """
    name = checked_format(options.file_format)
    shown = os.fspath(path)
    try:
        with open_graph(path) as file:
            edges = _read(file, name, options)
            return edges._replace(w=None) if options.weight is None else edges
    except BadLine as error:
        raise ValueError(f"{shown}:{error.line}: {error}") from None
    except (ValueError, TypeError, csv.Error) as error:
        text = " ".join(str(error).split())
        known_class = isinstance(error, (DirectedGraph, NoSuchAttribute))
        error_class = type(error) if known_class else ValueError
        raise error_class(text if text.startswith(f"{shown}:") else f"{shown}: {text}") from None
    except (MemoryError, ImportError):
        raise
    except Exception as error:  # libraries fail in many ways on damaged files
        if isinstance(error, OSError) and error.errno is not None:
            raise
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"{shown}: this file cannot be read ({text})") from error


def _read(file: GraphFile, name: str | None, options: FileOptions) -> Edges:
    if not file.head.strip():
        raise ValueError("no edges in this file; it is empty")
    name = name or format_of(file)
    if name == "edgelist" and not has_data(sniff(file.head)):
        if options.columns is None:
            _refuse_attributes(name, options)
            return read_edge_list(file.path) if file.plain else read_lines(file.path, file.stream)
        name = "csv"
    if name in _WITHOUT_ATTRIBUTES:
        _refuse_attributes(name, options)
    module, _, function = _READERS[name].partition(":")
    read: Reader = getattr(import_module(f"sepool.graph.formats.{module}"), function)
    return read(file, options)


def _refuse_attributes(name: str, options: FileOptions) -> None:
    """Fail on options for columns and attributes, which the format has not."""
    if options.columns is not None:
        raise ValueError(f"the format {name} has no columns to choose; leave the columns out")
    if options.weight not in (None, WEIGHT):
        raise ValueError(
            f"weight={options.weight!r} names a column or edge attribute, which the format {name} "
            "has not; leave it out, or pass None to ignore weights"
        )
