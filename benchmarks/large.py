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
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from generators import lfr, planted_partition, rmat
from graphs import IntArray
from results import Recorder, Row, parser
from scale import high_water

BLOCK = 1_000_000  # edges
BYTES_PER_EDGE = 120
SHARE = 0.4  # of the memory that the search in memory takes
BUDGET = 2_000_000_000  # bytes, for graphs that are not searched in memory
IN_MEMORY = 50_000_000  # edges; up to here the search in memory runs as well
THREADS = 2
HEIGHT = 2


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


def planted_blocks(edges: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yields a planted partition in one block."""
    graph = planted_partition(edges, seed=0)
    yield graph.pairs, np.arange(graph.num_nodes) // 200


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


FAMILIES: dict[str, tuple[str, Callable[[int], Iterator[tuple[IntArray, IntArray | None]]]]] = {
    "lfr": ("LFR, mixing 0.3", lfr_blocks),
    "planted": ("planted partition", planted_blocks),
    "rmat": ("R-MAT", rmat_blocks),
    "lfr6": ("LFR, mixing 0.6", partial(lfr_blocks, mixing=0.6)),
}
SIZES = {"10M": 10_000_000, "50M": 50_000_000, "200M": 200_000_000}
PARTS = (
    *("lfr-10M", "planted-10M", "rmat-10M", "lfr6-10M"),
    *("lfr-50M", "rmat-50M", "lfr-200M", "rmat-200M"),
)


def generate(family: str, edges: int, path: Path) -> tuple[int, IntArray | None]:
    """Writes a graph, returns its rows and the communities that it was made of."""
    rows, communities = 0, []
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with pq.ParquetWriter(path, schema) as file:
        for pairs, community in FAMILIES[family][1](edges):
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
    """Searches a tree of tables, or in memory."""
    start = time.perf_counter()
    if task["in_memory"]:
        import sepool

        tree = sepool.coding_tree(task["path"], HEIGHT, num_threads=THREADS)
        answer: Row = {"entropy": tree.entropy}
    else:
        from sepool.large import coding_tree

        reports: list[Any] = []

        def progress(report: Any) -> None:
            reports.append(report)
            print(report, file=sys.stderr, flush=True)

        result = coding_tree(
            task["path"],
            height=HEIGHT,
            memory=task["memory"],
            threads=THREADS,
            output=task["output"],
            progress=progress,
        )
        answer = {name: getattr(result, name) for name in ("entropy", "counts", "rounds")}
        answer["spilled_bytes"] = max(report.spilled for report in reports)
        answer["steps"] = {report.step: round(report.seconds, 2) for report in reports}
    return {**answer, "seconds": time.perf_counter() - start, "peak_bytes": high_water()}


def apart(task: Row) -> Row:
    """Runs a search in a fresh process."""
    command = [sys.executable, __file__, "--worker", json.dumps(task)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{task} failed")
    answer: Row = json.loads(done.stdout.splitlines()[-1])
    return answer


def nmi(output: Path, communities: IntArray) -> float:
    """Normalised mutual information between the planted communities and the labels."""
    from sklearn.metrics import normalized_mutual_info_score

    table = pq.read_table(output)
    nodes, labels = table["node"].to_numpy(), table["level_1"].to_numpy()
    return float(normalized_mutual_info_score(communities[nodes], labels))


def streamed_entropy(path: Path, output: Path) -> float:
    """The entropy at height 2 by NumPy, a block of edges at a time, for an independent figure."""
    table = pq.read_table(output)
    nodes = table["node"].to_numpy()
    label = np.zeros(int(nodes.max()) + 1, np.int32)
    label[nodes] = np.unique(table["level_1"].to_numpy(), return_inverse=True)[1]
    degree = np.zeros(len(label), np.int32)
    inside = np.zeros(int(label.max()) + 1, np.int64)
    for batch in pq.ParquetFile(path).iter_batches(BLOCK):
        u, v = (column.to_numpy() for column in batch.columns)
        u, v = u[u != v], v[u != v]
        for ends in (u, v):
            ids, counts = np.unique(ends, return_counts=True)
            degree[ids] += counts.astype(np.int32)
        same = label[u] == label[v]
        inside += np.bincount(label[u[same]], minlength=len(inside))
    volume = np.bincount(label, degree, len(inside))
    total, some = volume.sum(), volume > 0
    cost = 2 * float(inside[some] @ np.log2(volume[some] / total)) / total
    positive = degree[degree > 0].astype(np.float64)
    return cost - float(positive @ np.log2(positive / total)) / total


def measure(part: str, out: Recorder, edges: int | None = None) -> None:
    """Searches one graph by tables and, where it fits, in memory."""
    family, size = part.split("-")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        path, output = Path(place) / "edges.parquet", Path(place) / "labels.parquet"
        rows, communities = generate(family, edges or SIZES[size], path)
        fits = rows <= 1.1 * IN_MEMORY
        memory = int(SHARE * rows * BYTES_PER_EDGE) if fits else BUDGET
        task = {"path": str(path), "memory": memory, "output": str(output), "in_memory": False}
        row = {"graph": FAMILIES[family][0], "edges": rows, "memory": memory, **apart(task)}
        row["streamed_entropy"] = streamed_entropy(path, output)
        row["nmi"] = None if communities is None else nmi(output, communities)
        if fits:
            whole = apart({**task, "in_memory": True})
            row["in_memory"] = {name: whole[name] for name in ("entropy", "seconds", "peak_bytes")}
        out.add(part=part, **row)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.worker:
        print(json.dumps(search(json.loads(arguments.worker))))
        return
    out = Recorder(__file__, arguments.quick, arguments.parts)
    for part in arguments.parts:
        measure(part, out, 50_000 if arguments.quick else None)


if __name__ == "__main__":
    main()
