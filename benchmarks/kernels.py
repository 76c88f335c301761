"""Where the time of lockstep goes: the kernels of one epoch with its validation, longest first.

Configurations are told by their places in the grid of a protocol, as in `sepool reproduce`; all
folds and some seeds of one configuration train together. On a GPU the times are those of kernels,
on the CPU those of PyTorch's operators.

    python benchmarks/kernels.py --data DATA --datasets DD,COLLAB --protocol table2 --configs 20,84
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile

from sepool_experiments.engine.trainer import make_lockstep
from sepool_experiments.protocols.catalog import PROTOCOLS


def main() -> None:
    options = _arguments()
    for dataset in options.datasets.split(","):
        for place in map(int, options.configs.split(",")):
            _show(options, dataset, place)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--datasets", default="PROTEINS")
    parser.add_argument("--protocol", default="table1")
    parser.add_argument("--configs", default="0", help="places in the grid, from 0")
    parser.add_argument("--tree", default="best")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--top", type=int, default=12, help="how many kernels to show")
    return parser.parse_args()


def _show(options: argparse.Namespace, dataset: str, place: int) -> None:
    """Trains three epochs, and shows what the last one was made of."""
    protocol = PROTOCOLS[options.protocol]
    units = protocol.units(
        [dataset], ["SEP-G"], [options.tree], seeds=options.seeds, configs=[place]
    )
    step = make_lockstep(units, protocol, Path(options.data), options.device)
    for epoch in range(2):  # kernels are compiled, and steps recorded
        step.advance(epoch)
    spent, times, calls = profiled(lambda: step.advance(2), options.device)
    config = units[0].config.changes()
    print(f"{dataset} {config}, {len(units)} trainings: an epoch {1e3 * spent:.0f} ms")
    for name, busy in times.most_common(options.top):
        print(f"{1e3 * busy:9.1f} ms {calls[name]:6} calls  {name[:80]}")


def profiled(work: Callable[[], object], device: str) -> tuple[float, Counter[str], Counter[str]]:
    """The seconds that some work took, those in every kernel, and how often each was called."""
    on_gpu = device.startswith("cuda")
    activity = ProfilerActivity.CUDA if on_gpu else ProfilerActivity.CPU
    with profile(activities=[activity]) as profiler:
        began = perf_counter()
        work()
        if on_gpu:
            torch.cuda.synchronize()
        spent = perf_counter() - began
    times, calls = Counter[str](), Counter[str]()
    for event in profiler.key_averages():
        busy = event.self_device_time_total if on_gpu else event.self_cpu_time_total
        times[event.key] += busy / 1e6
        calls[event.key] += event.count
    return spent, times, calls


if __name__ == "__main__":
    main()
