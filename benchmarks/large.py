"""Graphs larger than memory: entropy, NMI, peak memory, spill and time of `sepool.large`.

Generators write Parquet in blocks, so that a graph may be larger than memory. Every search is a
process of its own. Where the graph fits, the entropy of the search in memory stands beside.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from generators import lfr, rmat
from graphs import IntArray
from results import Recorder, Row, parser
from scale import high_water

BLOCK = 1_000_000  # edges
MEMORY_SHARES = (0.75, 0.4)  # of what the search in memory takes
BYTES_PER_EDGE = 60
IN_MEMORY = 20_000_000  # edges; up to here the search in memory runs as well


# ---------------------------------------------------------------------------------------------
# generators


def lfr_blocks(edges: int, mixing: float = 0.3) -> Iterator[tuple[IntArray, IntArray]]:
    """Yields LFR graphs side by side; the share of edges that leads out stays what it is.

    Of every block the ends of one edge in ten between communities go to other blocks.
    """
    size = min(BLOCK, edges)
    blocks, nodes = -(-edges // size), size * 2 // 15
    rng = np.random.default_rng(0)
    for block in range(blocks):
        planted = lfr(nodes, mixing, seed=block)
        pairs, community = planted.graph.pairs, planted.levels[0]
        pairs = pairs + block * nodes
        outside = community[pairs[:, 0] - block * nodes] != community[pairs[:, 1] - block * nodes]
        moved = outside & (rng.random(len(pairs)) < 0.1)
        pairs[moved, 1] = rng.integers(blocks * nodes, size=int(moved.sum()))
        yield pairs, community + block * nodes


def rmat_blocks(edges: int) -> Iterator[tuple[IntArray, None]]:
    """Yields R-MAT edges with the Graph500 probabilities; repeated pairs add up."""
    if edges <= BLOCK:
        yield rmat(edges, 0).pairs, None
        return
    rng, scale = np.random.default_rng(0), max(round(np.log2(edges / 8)), 2)
    for start in range(0, edges, BLOCK):
        m = min(BLOCK, edges - start)
        u, v = np.zeros(m, np.int64), np.zeros(m, np.int64)
        for _ in range(scale):
            draw = rng.random(m, dtype=np.float32)
            u = 2 * u + (draw >= 0.76)
            v = 2 * v + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
        yield np.column_stack([u, v]), None


FAMILIES = {"LFR, mixing 0.3": lfr_blocks, "R-MAT": rmat_blocks}


def generate(family: str, edges: int, path: Path) -> tuple[int, IntArray | None]:
    """Writes a graph, returns its rows and the communities that it was made of."""
    rows, communities = 0, []
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with pq.ParquetWriter(path, schema) as file:
        for pairs, community in FAMILIES[family](edges):
            columns = [
                pa.array(pairs[:, 0].astype(np.int64)),
                pa.array(pairs[:, 1].astype(np.int64)),
            ]
            file.write_table(pa.table(columns, schema=schema))
            rows += len(pairs)
            if community is not None:
                communities.append(community)
    return rows, np.concatenate(communities) if communities else None


# ---------------------------------------------------------------------------------------------
# searches, each in a process of its own


def search(task: Row) -> Row:
    """Searches a tree of tables."""
    import time

    from sepool.large import coding_tree

    reports = []
    start = time.perf_counter()
    result = coding_tree(
        task["path"],
        height=task["height"],
        memory=task["memory"],
        output=task["output"],
        progress=reports.append,
    )
    return {
        "seconds": time.perf_counter() - start,
        "entropy": result.entropy,
        "counts": result.counts,
        "rounds": result.rounds,
        "peak_bytes": high_water(),
        "spilled_bytes": max(report.spilled for report in reports),
    }


def apart(task: Row) -> Row:
    """Runs a search in a fresh process."""
    command = [sys.executable, __file__, "--worker", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{task} failed:\n{done.stderr[-2000:]}")
    answer: Row = json.loads(done.stdout.splitlines()[-1])
    return answer


def nmi(output: Path, communities: IntArray, height: int) -> float:
    """Normalised mutual information between the planted communities and the coarsest level."""
    from sklearn.metrics import normalized_mutual_info_score

    table = pq.read_table(output)
    nodes, labels = table["node"].to_numpy(), table[f"level_{height - 1}"].to_numpy()
    return float(normalized_mutual_info_score(communities[nodes], labels))


def measure(family: str, edges: int, heights: tuple[int, ...], out: Recorder) -> None:
    """Searches one graph with less and less memory."""
    import sepool

    with tempfile.TemporaryDirectory() as place:
        path, output = Path(place) / "edges.parquet", Path(place) / "labels.parquet"
        rows, communities = generate(family, edges, path)
        for height in heights:
            whole = None
            if rows <= IN_MEMORY:
                whole = sepool.coding_tree(path, height).entropy
            for share in MEMORY_SHARES:
                memory = int(share * rows * BYTES_PER_EDGE)
                task = {
                    "path": str(path),
                    "height": height,
                    "memory": memory,
                    "output": str(output),
                }
                row = {"graph": family, "edges": rows, "height": height, "memory": memory}
                row |= apart(task)
                row["in_memory"] = whole
                row["nmi"] = None if communities is None else nmi(output, communities, height)
                out.add(part="large", **row)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--edges", type=int, default=None, help="size of the graphs")
    options.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.worker:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        print(json.dumps(search(json.loads(arguments.worker))))
        return
    edges = arguments.edges or (50_000 if arguments.quick else 100_000_000)
    out = Recorder(__file__, arguments.quick)
    for family in FAMILIES:
        measure(family, edges, (2,) if arguments.quick else (2, 3), out)


if __name__ == "__main__":
    main()
