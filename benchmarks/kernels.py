"""Gain of every GPU kernel: lockstep epochs with all kernels, without each, and with none.

SEP-G with the backbones that use the kernels, and SEP-N on one graph; all folds and some seeds of a
configuration train together. A gain is the time without a kernel over the time with all, less 1.

    python benchmarks/kernels.py --data DATA --device cuda
"""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch

from sepool_experiments.engine.trainer import make_lockstep
from sepool_experiments.kernels.registry import KERNELS, disabled
from sepool_experiments.protocols.catalog import PROTOCOLS

# Name: protocol, dataset, system, place of the configuration in the grid.
WORKLOADS = {
    "SEP-G, GCN, MUTAG": ("table1", "MUTAG", "SEP-G", 10),
    "SEP-G, GCN, PROTEINS": ("table1", "PROTEINS", "SEP-G", 10),
    "SEP-G, GIN, PROTEINS": ("table2", "PROTEINS", "SEP-G", 90),
    "SEP-G, GAT, PROTEINS": ("table2", "PROTEINS", "SEP-G", 26),
    "SEP-N, Cora": ("table3", "Cora", "SEP-N", 90),
}


def main() -> None:
    options = _arguments()
    for name, workload in WORKLOADS.items():
        if options.workloads in name:
            print(json.dumps({"workload": name, **measure(workload, options)}), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--workloads", default="", help="those whose names contain this")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=20, help="timed epochs of a round")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def measure(workload: tuple[str, str, str, int], options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of an epoch in every variant, and the gains."""
    variants: dict[str, tuple[str, ...]] = {"all": (), **{name: (name,) for name in KERNELS}}
    variants["none"] = tuple(KERNELS)
    times = {name: epoch_time(workload, options, without) for name, without in variants.items()}
    gains = {name: round(time / times["all"] - 1, 3) for name, time in times.items()}
    first = workload[0], workload[1], workload[3]
    return {"config": str(_units(*workload, options)[0].config), "where": first,
            "ms": {name: round(1e3 * time, 2) for name, time in times.items()},
            "gain": gains}  # fmt: skip


def _units(
    protocol: str, dataset: str, system: str, place: int, options: argparse.Namespace
) -> list[Any]:
    rules = PROTOCOLS[protocol]
    return rules.units([dataset], [system], ["best"], seeds=options.seeds, configs=[place])


def epoch_time(
    workload: tuple[str, str, str, int], options: argparse.Namespace, without: tuple[str, ...]
) -> float:
    """Seconds of an epoch with its validation, the median over rounds."""
    with disabled(*without) if without else nullcontext():
        rules = PROTOCOLS[workload[0]]
        step = make_lockstep(_units(*workload, options), rules, Path(options.data), options.device)
        epoch, rounds = 0, []
        for _ in range(2):  # kernels are compiled, and steps captured
            epoch = step.advance(epoch)
        for _ in range(options.rounds):
            _wait(options.device)
            began, first = perf_counter(), epoch
            while epoch < first + options.epochs:
                epoch = step.advance(epoch)
            _wait(options.device)
            rounds.append((perf_counter() - began) / (epoch - first))
    return median(rounds)


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
