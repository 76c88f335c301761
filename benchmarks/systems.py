"""What every system for graphs costs: time and memory for one epoch, all systems in one run.

One epoch is what it is in table 1 (50 batches, or a pass over the data), without validation. All
systems have the width, batch and engine of table 1; a row has the time for all replicas together
and for one of them. Memory is the peak that PyTorch allocated on a GPU, and on the CPU by how much
the process grew, each system in a process of its own.

    python benchmarks/systems.py --data DATA --device cuda --replicas 1,100
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from results import Recorder, parser, root_of
from scale import high_water
from sepool_experiments.engine.trainer import make_lockstep
from sepool_experiments.models.systems import SYSTEMS
from sepool_experiments.protocols.catalog import PROTOCOLS, Protocol
from sepool_experiments.protocols.units import Config

TABLE = PROTOCOLS["table1"]
MIB = 2**20


def measure(system: str, dataset: str, replicas: int, root: Path, device: str, turns: int) -> Any:
    """Weights, seconds and MiB of an epoch."""
    if device == "cpu":
        torch.set_num_threads(1)
    step = make_lockstep(units_of(TABLE, system, dataset, replicas), TABLE, root, device)
    before = peak(device)
    step.train_epoch(1)  # a GPU records its step now
    wait(device)
    times = []
    for epoch in range(2, 2 + turns):
        began = perf_counter()
        step.train_epoch(epoch)
        wait(device)
        times.append(perf_counter() - began)
    return {
        "weights": step.weights.size(1),
        "seconds": min(times),
        "seconds_a_replica": min(times) / replicas,
        "mib": round(peak(device) - before, 1),
    }


def units_of(table: Protocol, system: str, dataset: str, replicas: int) -> list[Any]:
    """So many trainings with the first width and the larger batch of the grid."""
    seeds = -(-replicas // table.folds)
    place = table.configs(dataset).index(Config(hidden=64, batch=128))
    return table.units([dataset], [system], seeds=seeds, configs=[place])[:replicas]


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def peak(device: str) -> float:
    """The most memory so far, in MiB; on a GPU since this was asked last."""
    if device == "cpu":
        return high_water() / MIB
    most = torch.cuda.max_memory_allocated() / MIB
    torch.cuda.reset_peak_memory_stats()
    return most


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options.add_argument("--datasets", default="MUTAG,PROTEINS,IMDB-BINARY")
    options.add_argument("--replicas", default="1", help="how many trainings at once, e.g. 1,100")
    arguments = options.parse_args()
    root = root_of(arguments)
    if root is None:
        raise SystemExit("give the folder of the data with --data")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("--device cuda: PyTorch sees no GPU here")
    out = Recorder(__file__, arguments.quick)
    if arguments.device == "cuda":  # another machine, another file
        out.path = out.path.with_name("systems_cuda.json")
        out.head["machine"]["accelerator"] = torch.cuda.get_device_name()
    datasets = arguments.datasets.split(",")[: 1 if arguments.quick else None]
    for dataset in datasets:
        for replicas in map(int, arguments.replicas.split(",")):
            for system in TABLE.systems:
                task = (system, dataset, replicas, root, arguments.device)
                turns = 1 if arguments.quick else 3
                found = apart(*task, turns) if arguments.device == "cpu" else measure(*task, turns)
                family = SYSTEMS[system].family
                row = {"graph": dataset, "system": system, "family": family, "replicas": replicas}
                out.add(part=arguments.device, **row, **found)


def apart(*task: Any) -> Any:
    """`measure` in a process of its own, so that its peak is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, *task).result()


if __name__ == "__main__":
    main()
