"""Tables of clusters: a row a node, with its name and its cluster on every level, finest first."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import one_of
from sepool.export.names import text_names
from sepool.export.streams import as_text
from sepool.extras import needs
from sepool.levels import names_of

if TYPE_CHECKING:
    from sepool.tree import CodingTree

LIBRARIES = ("pandas", "polars")


def level_columns(tree: CodingTree) -> dict[str, NDArray[np.int32]]:
    """Return the columns ``level_1``, ``level_2``, ... up to the coarsest level of clusters."""
    return {f"level_{level}": tree.labels(level) for level in range(1, tree.height)}


def frame(tree: CodingTree, library: str) -> Any:
    """Return a data frame of pandas or polars with a row a node.

    Raises:
        TypeError: the names are of several types, which a column of polars cannot hold.
    """
    one_of("library", library, LIBRARIES)
    names = names_of(tree)
    columns = level_columns(tree)
    if library == "pandas":
        with needs("io", "to_frame"):
            import pandas as pd

        numbers = isinstance(names, range)
        return pd.DataFrame({"node": np.arange(len(names)) if numbers else list(names), **columns})
    with needs("", "to_frame"):
        import polars as pl

    try:
        node = pl.Series("node", names)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        raise TypeError(_mixed("polars", names)) from None
    return pl.DataFrame([node, *(pl.Series(name, x) for name, x in columns.items())])


def write_csv(tree: CodingTree, file: IO[bytes]) -> None:
    """Write ``node,level_1,level_2,...`` and a row a node."""
    _write_rows(tree, file, ",")


def write_tsv(tree: CodingTree, file: IO[bytes]) -> None:
    """Write the table of `write_csv` with tabs."""
    _write_rows(tree, file, "\t")


def write_parquet(tree: CodingTree, file: IO[bytes]) -> None:
    """Write the table of `write_csv` as Parquet, names in their type.

    Raises:
        TypeError: the names are of several types, or of one that a column cannot hold.
    """
    with needs("io", "a .parquet file"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    names = names_of(tree)
    text_names(tree, "a .parquet file")  # fails on text beyond UTF-8
    try:
        node = pa.array(names)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        raise TypeError(_mixed("a .parquet file", names)) from None
    pq.write_table(pa.table({"node": node, **level_columns(tree)}), file)


def _write_rows(tree: CodingTree, file: IO[bytes], delimiter: str) -> None:
    columns, names = level_columns(tree), text_names(tree, "a table")
    with as_text(file) as text:
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["node", *columns])
        writer.writerows(zip(names, *(x.tolist() for x in columns.values()), strict=True))


def _mixed(what: str, names: Any) -> str:
    types = ", ".join(dict.fromkeys(type(name).__name__ for name in names))
    return (
        f"{what} needs names of one plain type, got {types}; convert them: "
        "dataclasses.replace(tree, names=tuple(map(str, tree.names)))"
    )
