"""How time and memory grow: `fast` from 1 to 20 million edges, and shapes that should not hurt.

Every measurement is a process of its own, killed after `--timeout` seconds. Peak memory is the
process's high-water mark after the call minus its resident memory just before, when nothing but
Python, sepool and the input is loaded. The input is read from a file that another process made, so
no generator leaves a high-water mark behind. Times are the fastest of three.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import numpy as np

import generators
from generators import FAMILIES, SHAPES, shuffled
from results import Recorder, Row, parser

MILLION = 1_000_000
FORMS = ("graph", "edges")  # the input: a sepool.Graph, or an int64 array of edges


DENSE = ("complete", "complete bipartite")


# ---------------------------------------------------------------------------------------------
# inside a process of its own


def build(task: Row) -> Row:
    """Makes a graph of a family and saves it as an edge array and as compressed rows."""
    from peers import sepool_graph

    graph = FAMILIES[task["family"]](task["edges"], 0)
    if task["order"] == "shuffled":
        graph = shuffled(graph, seed=1)
    folder = Path(task["folder"])
    np.save(folder / "pairs.npy", graph.pairs)
    rows = sepool_graph(graph)
    np.save(folder / "indptr.npy", rows.indptr)
    np.save(folder / "indices.npy", rows.indices)
    return {"nodes": graph.num_nodes, "edges": graph.num_edges}


def measure(task: Row) -> Row:
    """Seconds and peak memory of `coding_tree` on a saved graph."""
    import sepool

    sepool.coding_tree(np.array([[0, 1], [1, 2]]), 2, method=task["method"])  # loads everything
    folder = Path(task["folder"])
    if task["form"] == "graph":
        graph: Any = sepool.Graph(np.load(folder / "indptr.npy"), np.load(folder / "indices.npy"))
    else:
        graph = np.load(folder / "pairs.npy")
    before = resident()
    seconds, peak = [], 0
    for _ in range(task["repeats"]):
        start = time.perf_counter()
        sepool.coding_tree(graph, task["height"], method=task["method"])
        seconds.append(time.perf_counter() - start)
        peak = peak or high_water()
    return {"seconds": min(seconds), "bytes": peak - before}


def shape(task: Row) -> Row:
    """Seconds of `coding_tree` on a shape."""
    import sepool
    from peers import sepool_graph

    edges = generators.shape(task["shape"], task["n"])
    graph = sepool_graph(edges)
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 5:
        start = time.perf_counter()
        sepool.coding_tree(graph, task["height"], method=task["method"])
        seconds.append(time.perf_counter() - start)
    return {"edges": edges.num_edges, "seconds": min(seconds)}


def high_water() -> int:
    """Peak resident memory; Linux's own record is not inherited from the parent as getrusage's."""
    status = Path("/proc/self/status")
    if status.exists():
        record = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(record[0].split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident() -> int:
    """Resident memory now; where the system does not tell, the high-water mark so far."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return high_water()
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


WORK: dict[str, Callable[[Row], Row]] = {"build": build, "measure": measure, "shape": shape}


# ---------------------------------------------------------------------------------------------
# outside


def apart(work: str, task: Row, timeout: float) -> Row | None:
    """Does a task in a fresh process; None if it took longer than the timeout."""
    command = [sys.executable, __file__, "--worker", json.dumps({"work": work, **task})]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(f"{work} {task} failed:\n{done.stderr[-2000:]}")
    answer: Row = json.loads(done.stdout.splitlines()[-1])
    return answer


def families(sizes: list[int], arguments: argparse.Namespace, out: Recorder) -> None:
    for family in FAMILIES:
        for order in ("as generated", "shuffled"):
            for edges in sizes:
                with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
                    task = {"family": family, "order": order, "edges": edges, "folder": folder}
                    size = apart("build", task, 3600) or {}
                    for form in FORMS:
                        asked = {"form": form, "method": "fast", "height": arguments.height}
                        found = apart(
                            "measure", {**asked, "folder": folder, "repeats": 3}, arguments.timeout
                        )
                        row = {"graph": family, "order": order, **asked, "asked": edges, **size}
                        if found is None:
                            found = {"over": arguments.timeout}
                        else:
                            found["bytes_per_edge"] = found["bytes"] / size["edges"]
                        out.add(part="families", **row, **found)


def shapes(largest: int, dense: int, arguments: argparse.Namespace, out: Recorder) -> None:
    """Doubles the nodes (of dense shapes, the edges) three times for every shape and method."""
    for name in SHAPES:
        top, step = (dense, 2**0.5) if name in DENSE else (largest, 2.0)
        for method in ("fast", "paper", "best"):
            for doubling in (3, 2, 1, 0):
                n = round(top / step**doubling)
                task = {"shape": name, "n": n, "method": method, "height": arguments.height}
                found = apart("shape", task, arguments.timeout)
                row = {"part": "shapes", "graph": name, "method": method, "nodes": n}
                if found is None:
                    out.add(**row, height=arguments.height, over=arguments.timeout)
                    break
                out.add(**row, height=arguments.height, **found)


def exponent(first: Row, last: Row) -> float:
    """The p of seconds ~ edges^p between two rows."""
    return log(last["seconds"] / first["seconds"]) / log(last["edges"] / first["edges"])


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=("families", "shapes"), default=None)
    options.add_argument("--height", type=int, default=3)
    options.add_argument("--timeout", type=float, default=None, help="seconds a measurement")
    options.add_argument("--scratch", help="folder for generated graphs (about 1 GB)")
    options.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.worker:
        task = json.loads(arguments.worker)
        print(json.dumps(WORK[task.pop("work")](task)))
        return
    quick = arguments.quick
    arguments.timeout = arguments.timeout or (30.0 if quick else 300.0)
    parts = arguments.parts or ("families", "shapes")
    out = Recorder(__file__, quick, parts)
    if "families" in parts:
        sizes = [MILLION // 10, MILLION // 5] if quick else [1, 2, 5, 10, 20]
        families(sizes if quick else [size * MILLION for size in sizes], arguments, out)
    if "shapes" in parts:
        shapes(MILLION // 20 if quick else MILLION, 400 if quick else 2000, arguments, out)


if __name__ == "__main__":
    main()
