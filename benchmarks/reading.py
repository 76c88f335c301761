"""Times of reading a graph file, against polars' own read of it and `as_graph` on the array.

A Parquet file of whole-number ids should take no longer than both together, the latter 1.2-fold.
Weights are left out: most large graphs have none.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars

import sepool
from results import Recorder, parser
from timing import Contender, measured, take_turns

EDGES, EDGES_A_NODE = 10_000_000, 5
ROUNDS, BUDGET = 5, 60.0


def measure(edges: int, folder: Path, recorder: Recorder) -> None:
    """Times all formats of a random graph whose ids are 0 to n - 1."""
    rng = np.random.default_rng(0)
    nodes = edges // EDGES_A_NODE
    pairs = rng.integers(0, nodes, (edges, 2))
    pairs[:nodes, 0] = np.arange(nodes)
    table = polars.DataFrame({"source": pairs[:, 0], "target": pairs[:, 1]})
    parquet, csv, text = folder / "graph.parquet", folder / "graph.csv", folder / "graph.txt"
    table.write_parquet(parquet)
    table.write_csv(csv)
    table.write_csv(text, separator=" ", include_header=False)
    contenders = [
        Contender("polars read_parquet", lambda: polars.read_parquet(parquet)),
        Contender("as_graph(array)", lambda: sepool.as_graph(pairs)),
        Contender("as_graph(parquet)", lambda: sepool.as_graph(parquet)),
        Contender("polars read_csv", lambda: polars.read_csv(csv)),
        Contender("as_graph(csv)", lambda: sepool.as_graph(csv)),
        Contender("as_graph(edge list)", lambda: sepool.as_graph(text)),
    ]
    take_turns(contenders, ROUNDS, BUDGET)
    seconds = {c.name: c.seconds for c in contenders}
    limit = seconds["polars read_parquet"] + 1.2 * seconds["as_graph(array)"]
    share = seconds["as_graph(parquet)"] / limit
    recorder.add(
        part="formats", edges=edges, nodes=nodes, limit_share=share, **measured(contenders)
    )


def main() -> None:
    arguments = parser(__doc__).parse_args()
    recorder = Recorder(__file__, arguments.quick)
    with tempfile.TemporaryDirectory() as folder:
        measure(EDGES // 10 if arguments.quick else EDGES, Path(folder), recorder)


if __name__ == "__main__":
    main()
