"""Speed of this version of sepool against another one, in turns, on one thread.

- sepg, gcn:    an epoch of SEP-G and of a plain GCN on PROTEINS, with PyG's DataLoader
- apply_all:    coding trees of all graphs of PROTEINS, on the PyG dataset
- hierarchy:    a pass of the DataLoader over graphs with trees, and the hierarchy of every batch
- coding_trees: coding trees of all graphs of PROTEINS, from arrays
- lockstep:     an epoch of ten SEP-G trainings in lockstep on MUTAG, validation included

Every round starts a fresh process per version, and both take turns within it. Without `--against`
only the times of this version and the ratio of SEP-G to the plain GCN are printed.

    python benchmarks/versions.py --data ROOT --against /path/to/other/bin/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache, partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch_geometric.loader import DataLoader

import sepool
from epoch import BATCH, HEIGHT, RATE, PlainGCN, make, train
from graphs import tu_dataset
from pyg import tu
from sepool.nn import SEPG

SHORTEST = 0.2  # seconds of a sample; faster work is repeated
EPOCHS = 2  # a sample of lockstep


class Worker:
    """A process that times work with its own interpreter and version of sepool."""

    def __init__(self, python: str, root: Path) -> None:
        command = [python, __file__, "--worker", "--data", str(root)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.requests, self.replies = self.process.stdin, self.process.stdout
        self.version = self.ask("version")

    def ask(self, request: str) -> Any:
        """The version, or the seconds of a part on the clock and of the CPU."""
        print(request, file=self.requests, flush=True)
        line = self.replies.readline() if self.replies else ""
        if not line:
            raise SystemExit("a worker failed; its traceback is above")
        return json.loads(line)

    def close(self) -> None:
        self.process.communicate()


# in the worker: only names that both versions have


def serve(root: Path) -> None:
    """Answer the requests on standard input, one a line."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.filterwarnings("ignore")
    replies, ready = sys.stdout, dict[str, Callable[[], object]]()
    with redirect_stdout(sys.stderr):
        for request in map(str.strip, sys.stdin):
            reply: Any = sepool.__version__
            if request in PARTS:
                if request not in ready:
                    ready[request] = PARTS[request](root)
                    ready[request]()
                reply = timed(ready[request])
            print(json.dumps(reply), file=replies, flush=True)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Mean seconds of as many runs as last SHORTEST together, on the clock and of the CPU."""
    clock, cpu, runs = time.perf_counter(), time.process_time(), 0
    while not runs or time.perf_counter() - clock < SHORTEST:
        work()
        runs += 1
    return (time.perf_counter() - clock) / runs, (time.process_time() - cpu) / runs


@cache
def proteins(root: Path, *, trees: bool) -> Any:
    return apply_all(root)() if trees else tu("PROTEINS", root)


def apply_all(root: Path) -> Callable[[], Any]:
    transform = sepool.AddCodingTree(HEIGHT, num_threads=1, progress=False)
    return partial(transform.apply_all, proteins(root, trees=False))


def hierarchy(root: Path) -> Callable[[], object]:
    loader = DataLoader(proteins(root, trees=True), BATCH, shuffle=True)
    return lambda: [sepool.hierarchy(batch) for batch in loader]


def coding_trees(root: Path) -> Callable[[], object]:
    graphs = tu_dataset("PROTEINS", root)
    arrays, sizes = [graph.pairs for graph in graphs], [graph.num_nodes for graph in graphs]
    batch = sepool.as_graph_batch(arrays, num_nodes=sizes)
    return partial(sepool.coding_trees, batch, HEIGHT, num_threads=1)


def epoch(root: Path, *, trees: bool) -> Callable[[], object]:
    dataset = proteins(root, trees=trees)
    model = make(SEPG if trees else PlainGCN, dataset)
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    return partial(train, model, optimizer, DataLoader(dataset, BATCH, shuffle=True))


def lockstep(root: Path) -> Callable[[], object]:
    try:
        from sepool_experiments.engine.trainer import make_lockstep
        from sepool_experiments.protocols.catalog import PROTOCOLS
    except ModuleNotFoundError:  # sepool 0.1
        from sepool.bench.protocols import PROTOCOLS
        from sepool.bench.trainer import make_lockstep
    protocol = PROTOCOLS["table1"]
    units = protocol.units(["MUTAG"], ["SEP-G"], ["best"], seeds=2, folds=5, configs=[0])
    training = make_lockstep(units, protocol, root, "cpu")
    epochs = count(1)
    return lambda: [training.advance(next(epochs)) for _ in range(EPOCHS)]


PARTS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "sepg": partial(epoch, trees=True),
    "gcn": partial(epoch, trees=False),
    "apply_all": apply_all,
    "hierarchy": hierarchy,
    "coding_trees": coding_trees,
    "lockstep": lockstep,
}


def compare(pythons: list[str], root: Path, parts: list[str], rounds: int, turns: int) -> None:
    """Print the median time of every part and the median ratio over the rounds."""
    names = ["here", "against"][: len(pythons)]
    # by part, round and version: least seconds of a turn on the clock and of the CPU
    fastest: dict[str, list[list[list[float]]]] = {part: [] for part in parts}
    for index in range(rounds):
        workers = [Worker(python, root) for python in pythons]
        for part in parts:
            samples = [[worker.ask(part) for worker in workers] for _ in range(turns)]
            versions = zip(*samples, strict=True)
            fastest[part].append([list(map(min, *own, own[0])) for own in versions])
        for worker in workers:
            worker.close()
        print(f"round {index + 1} of {rounds}", file=sys.stderr)
    print(", ".join(f"{name}: sepool {w.version}" for name, w in zip(names, workers, strict=True)))
    header = [*names, "ratio", "of CPU time"][: 4 if len(names) == 2 else 1]
    print(f"{'':14}" + "".join(f"{name:>14}" for name in header))
    for part, outcome in fastest.items():
        cells = [
            f"{1e3 * median(own[i][0] for own in outcome):11.2f} ms" for i in range(len(names))
        ]
        for clock in (0, 1) if len(names) == 2 else ():
            cells.append(f"{median(own[0][clock] / own[1][clock] for own in outcome):14.3f}")
        print(f"{part:14}" + "".join(cells))
    if {"sepg", "gcn"} <= set(parts):
        for i, name in enumerate(names):
            both = list(zip(fastest["sepg"], fastest["gcn"], strict=True))
            ratios = [median(sepg[i][k] / gcn[i][k] for sepg, gcn in both) for k in (0, 1)]
            print(f"SEP-G / plain GCN, {name}: {ratios[0]:.3f}, of CPU time {ratios[1]:.3f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", metavar="ROOT", type=Path, required=True)
    options.add_argument("--against", metavar="PYTHON", help="interpreter with the other version")
    options.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options.add_argument("--rounds", type=int, default=5, help="fresh processes per version")
    options.add_argument(
        "--turns", type=int, default=3, help="turns in a round; the fastest counts"
    )
    options.add_argument("--quick", action="store_true", help="one round of one turn")
    options.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.worker:
        serve(arguments.data)
        return
    pythons = [sys.executable, *([arguments.against] if arguments.against else [])]
    rounds, turns = (1, 1) if arguments.quick else (arguments.rounds, arguments.turns)
    compare(pythons, arguments.data, arguments.parts, rounds, turns)


if __name__ == "__main__":
    main()
