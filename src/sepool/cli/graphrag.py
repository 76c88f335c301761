"""The command ``sepool graphrag``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from sepool.build import core_options
from sepool.cli import options
from sepool.cli.options import check_files, print_json
from sepool.extras import needs
from sepool.files.atomic import atomic_write, check_output

Entities = Annotated[Path, typer.Argument(metavar="ENTITIES", help="GraphRAG's entities.parquet.")]
Relationships = Annotated[
    Path, typer.Argument(metavar="RELATIONSHIPS", help="GraphRAG's relationships.parquet.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Output file, in Parquet.")]
Lcc = Annotated[bool, typer.Option("--lcc", help="Keep the largest connected component alone.")]
Period = Annotated[str | None, typer.Option(help="Date of the index, today by default.")]


def graphrag(
    entities: Entities,
    relationships: Relationships,
    output: Output = Path("communities.parquet"),
    height: options.Height = None,
    seed: options.Seed = 0,
    trials: options.Trials = 1,
    threads: options.Threads = None,
    clusters: options.Clusters = None,
    min_size: options.MinSize = 1,
    lcc: Lcc = False,
    period: Period = None,
    as_json: options.Json = False,
) -> None:
    """Write GraphRAG's table of communities.

    The table has the levels that the relationships support; level 0 is the coarsest.
    """
    core_options(1 if height is None else height, "best", seed, threads, None)
    check_files(
        [("the entities", entities), ("the relationships", relationships)], [("-o", output)]
    )
    check_output(output)
    with needs("io", "sepool graphrag"):
        from sepool.integrations.graphrag import communities

        tables = [_read(entities), _read(relationships)]
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        table = communities(
            *tables,
            height=height,
            num_clusters=clusters,
            min_size=min_size,
            seed=seed,
            trials=trials,
            use_lcc=lcc,
            period=period,
            num_threads=threads,
        )
    for note in notes:
        print(f"note: {note.message}", file=sys.stderr)
    with atomic_write(output) as file:
        table.to_parquet(file, index=False)
    _print_summary(output, table, len(tables[0]), as_json)


def _read(path: Path) -> Any:
    """Return a Parquet file as a frame; errors name the file."""
    import pandas as pd
    import pyarrow as pa

    try:
        return pd.read_parquet(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from None


def _print_summary(output: Path, table: Any, num_entities: int, as_json: bool) -> None:
    levels = table["level"].value_counts().sort_index().tolist()
    members = int(table.loc[table["level"] == 0, "size"].sum())
    if as_json:
        counts = {"communities": levels, "entities": num_entities, "in_communities": members}
        print_json({"file": output, **counts})
        return
    print("level  communities")
    for level, count in enumerate(levels):
        print(f"{level:5}  {count:11,}")
    print(f"wrote {output}: {members:,} of {num_entities:,} entities are in communities")
