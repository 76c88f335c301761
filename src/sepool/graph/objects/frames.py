"""pandas and polars DataFrames, a row an edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from sepool.graph.columns import choose_columns
from sepool.graph.edges import Edges
from sepool.graph.objects.columns import (
    edges_of_codes,
    edges_of_ids,
    refuse_missing,
    refuse_mixed,
)


def from_pandas(
    frame: Any,
    weight: str | None,
    symmetrise: bool,
    columns: Sequence[Hashable] | None = None,
) -> Edges:
    """Read a pandas DataFrame; columns of any other type than numbers hold names."""
    import pandas as pd

    chosen = choose_columns(list(frame.columns), columns, weight).chosen
    one, other, *weights = chosen
    ends = pd.concat([frame[one], frame[other]], ignore_index=True).infer_objects()
    refuse_missing(frame[one].isna().to_numpy(), frame[other].isna().to_numpy(), chosen)
    w = frame[weights[0]].to_numpy() if weights else None
    if getattr(ends.dtype, "kind", "O") in "biuf":
        u, v = ends.to_numpy().reshape(2, len(frame))
        return edges_of_ids(u, v, w)
    codes, names = pd.factorize(ends)
    u, v = codes.reshape(2, len(frame))
    return edges_of_codes(u, v, names.tolist(), w)


def from_polars(
    frame: Any,
    weight: str | None,
    symmetrise: bool,
    columns: Sequence[Hashable] | None = None,
) -> Edges:
    """Read a polars DataFrame or LazyFrame; columns of other types than numbers hold names."""
    import polars as pl

    chosen = choose_columns(frame.lazy().collect_schema().names(), columns, weight).chosen
    one, other, *weights = chosen
    table = frame.lazy().select(chosen).collect()
    u, v = (
        column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
        for column in (table[one], table[other])
    )
    refuse_missing(u.is_null().to_numpy(), v.is_null().to_numpy(), chosen)
    w = table[weights[0]].to_numpy() if weights else None
    if all(column.dtype.is_numeric() or column.dtype == pl.Boolean for column in (u, v)):
        return edges_of_ids(u.to_numpy(), v.to_numpy(), w)
    refuse_mixed(u.dtype, v.dtype, chosen)
    ends = pl.concat([u.alias("node"), v.alias("node")])
    names = ends.unique()
    codes = ends.replace_strict(names, np.arange(len(names))).to_numpy()
    a, b = codes.reshape(2, len(u))
    return edges_of_codes(a, b, names.to_list(), w)
