"""What every system for graphs costs: time and memory for one epoch, all systems in one run.

One epoch is what it is in table 1 (50 batches, or a pass over the data), without validation. All
systems have the width, batch and engine of table 1; a row has the time for all replicas together
and for one of them. Memory is the peak that PyTorch allocated.

    python benchmarks/systems.py --data DATA --device cuda --replicas 1,100
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from results import Recorder, parser, root_of
from sepool_experiments.engine.trainer import make_lockstep
from sepool_experiments.models.systems import SYSTEMS
from sepool_experiments.protocols.catalog import PROTOCOLS, Protocol
from sepool_experiments.protocols.units import Config

TABLE = PROTOCOLS["table1"]
MIB = 2**20


def measure(system: str, dataset: str, replicas: int, root: Path, turns: int) -> Any:
    """Weights, seconds and MiB of an epoch."""
    step = make_lockstep(units_of(TABLE, system, dataset, replicas), TABLE, root, "cuda")
    before = torch.cuda.max_memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    times = []
    for epoch in range(1, 2 + turns):
        began = perf_counter()
        step.train_epoch(epoch)
        torch.cuda.synchronize()
        times.append(perf_counter() - began)
    seconds = min(times[1:])  # the first records the step
    return {
        "weights": step.weights.size(1),
        "seconds": seconds,
        "seconds_a_replica": seconds / replicas,
        "mib": round((torch.cuda.max_memory_allocated() - before) / MIB, 1),
    }


def units_of(table: Protocol, system: str, dataset: str, replicas: int) -> list[Any]:
    """So many trainings with the first width and the larger batch of the grid."""
    seeds = -(-replicas // table.folds)
    place = table.configs(dataset).index(Config(hidden=64, batch=128))
    return table.units([dataset], [system], seeds=seeds, configs=[place])[:replicas]


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--datasets", default="MUTAG,PROTEINS,IMDB-BINARY")
    options.add_argument("--device", choices=["cuda"], default="cuda")
    options.add_argument("--replicas", default="1", help="how many trainings at once, e.g. 1,100")
    arguments = options.parse_args()
    root = root_of(arguments)
    if root is None:
        raise SystemExit("give the folder of the data with --data")
    if not torch.cuda.is_available():
        raise SystemExit("PyTorch sees no GPU here")
    out = Recorder(__file__, arguments.quick)
    out.path = out.path.with_name("systems_cuda.json")
    out.head["machine"]["accelerator"] = torch.cuda.get_device_name()
    datasets = arguments.datasets.split(",")[: 1 if arguments.quick else None]
    for dataset in datasets:
        for replicas in map(int, arguments.replicas.split(",")):
            for system in TABLE.systems:
                found = measure(system, dataset, replicas, root, 1 if arguments.quick else 3)
                row = {"graph": dataset, "system": system, "family": SYSTEMS[system].family}
                out.add(part="cuda", **row, replicas=replicas, **found)


if __name__ == "__main__":
    main()
