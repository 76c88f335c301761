"""Many trainings as one: how much faster replicas in lockstep are than one training after another.

Trains SEP-G over the grid of table 1 (16 configurations x 5 seeds x 10 folds a dataset) with the
engine `replicas`, then times epochs of the same trainings one at a time in plain PyG (the stock
loader, PyG's own convolution) on the same device, and prints the ratio of both throughputs. The
rows go where `sepool reproduce` puts them, so that the work is not lost.

    python benchmarks/lockstep.py --data DATA --device cuda --out results
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv

from results import Recorder
from sepool.nn import SEPG
from sepool.pyg.format import pack_blocks
from sepool.segments import pointers
from sepool_experiments.backends import RunOptions
from sepool_experiments.backends.run import Plan, run
from sepool_experiments.data.graphs import load_graphs, load_trees
from sepool_experiments.engine.trainer import make_lockstep
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.protocol import HEIGHT
from sepool_experiments.results.rows import Rows


def main() -> None:
    options = _arguments()
    protocol, datasets = PROTOCOLS["table1"], options.datasets.split(",")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    units = protocol.units(datasets, ["SEP-G"], ["best"], seeds)
    how = RunOptions(Path(options.data), options.device, workers=options.workers)
    plan = Plan.of(protocol, units, Path(options.out))
    if len(plan.todo) < len(units):
        raise SystemExit("the results are there already; give an empty folder with --out")
    out = Recorder(__file__, quick=False)
    if options.device.startswith("cuda"):
        out.head["machine"]["accelerator"] = torch.cuda.get_device_name()
    began = perf_counter()
    run(plan, how, "replicas")
    seconds = perf_counter() - began
    rows = Rows.read(Path(options.out))
    rows = rows[(rows["protocol"] == "table1") & rows["dataset"].isin(datasets)]
    rows = rows[(rows["system"] == "SEP-G") & (rows["tree"] == "best") & rows["seed"].isin(seeds)]
    alone = 0.0
    for (dataset, hidden, batch), part in rows.groupby(["dataset", "hidden", "batch"]):
        epoch = _time_alone(options, dataset, int(hidden), int(batch))
        alone += epoch * part["epochs"].sum()
        print(f"{dataset} hidden {hidden} batch {batch}: {1e3 * epoch:.0f} ms an epoch alone")
    out.add(
        part="throughput",
        datasets=datasets,
        trainings=len(units),
        lockstep=round(seconds, 1),
        alone=round(alone, 1),
    )
    for dataset, (share, memory) in _kernel_share(options, datasets).items():
        out.add(part="kernels", dataset=dataset, share=share, gib=memory)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", default="results")
    parser.add_argument("--datasets", default="MUTAG,PROTEINS,IMDB-BINARY")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args()


def _time_alone(options: argparse.Namespace, dataset: str, hidden: int, batch: int) -> float:
    """Seconds for one epoch of one training, validation included, in plain PyG."""
    graphs, classes = _pyg_graphs(Path(options.data), dataset)
    val, training = graphs[: len(graphs) // 10], graphs[len(graphs) // 5 :]
    model = SEPG(graphs[0].x.size(1), hidden, classes, conv=GCNConv).to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), 5e-4, weight_decay=1e-4)
    steps = PROTOCOLS["table1"].steps_for(dataset)
    times = []
    for _ in range(3):
        began = perf_counter()
        for _ in range(steps or 1):
            order = np.random.default_rng(0).permutation(len(training))
            chosen = [training[i] for i in (order[:batch] if steps else order)]
            for part in DataLoader(chosen, batch):
                part = part.to(options.device)
                optimizer.zero_grad()
                F.cross_entropy(model(part), part.y).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
        with torch.no_grad():
            for part in DataLoader(val, batch):
                float(F.cross_entropy(model(part.to(options.device)), part.y.to(options.device)))
        times.append(perf_counter() - began)
    return min(times[1:])


def _pyg_graphs(root: Path, dataset: str) -> tuple[list[Data], int]:
    found = load_graphs(root, dataset)
    blocks = pack_blocks(load_trees(root, found, "best", HEIGHT), found.edges)
    x = torch.from_numpy(found.features())
    nodes, edges = pointers(found.nodes), pointers(found.edges.counts)
    pairs = torch.from_numpy(np.stack([found.edges.row, found.edges.col]))
    tree = torch.from_numpy(blocks.numbers)
    graphs = [
        Data(
            x=x[nodes[i] : nodes[i + 1]],
            edge_index=pairs[:, edges[i] : edges[i + 1]],
            y=int(found.y[i]),
            tree=tree[blocks.ptr[i] : blocks.ptr[i + 1]],
        )
        for i in range(len(found.y))
    ]
    return graphs, found.num_classes


def _kernel_share(
    options: argparse.Namespace, datasets: list[str]
) -> dict[str, tuple[float, float]]:
    """For every dataset: the share of an epoch's time in kernels, and the peak memory in GiB."""
    if not options.device.startswith("cuda"):
        return {}
    shares = {}
    for dataset in datasets:
        units = PROTOCOLS["table1"].units([dataset], ["SEP-G"], ["best"], options.seeds)
        some = [unit for unit in units if (unit.config.hidden, unit.config.batch) == (64, 128)]
        step = make_lockstep(some, PROTOCOLS["table1"], Path(options.data), options.device)
        torch.cuda.reset_peak_memory_stats()
        step.train_epoch(1)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            began = perf_counter()
            step.train_epoch(2)
            torch.cuda.synchronize()
            spent = perf_counter() - began
        busy = sum(event.self_device_time_total for event in profiler.key_averages()) / 1e6
        memory = torch.cuda.max_memory_allocated() / 2**30
        shares[dataset] = round(busy / spent, 3), round(memory, 2)
    return shares


if __name__ == "__main__":
    main()
