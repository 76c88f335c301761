"""Training SEP-G on PROTEINS against a plain GCN: three convolutions, sum readout, one perceptron.

- cpu:  one epoch with the stock loader, one thread
- compiled (`--device compiled`): the same epoch of SEP-G, eager and by torch.compile; prints the
  shortest of each and writes nothing, since compiling depends on the machine's C++ compiler
- cuda: one step on batches that are on the GPU, logits against the CPU's, and the bits of two runs

A machine without the compiled core can run this too: `--save FILE` writes the graphs with their
trees, `--graphs FILE` reads them instead of --data.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_add_pool

from graphs import MissingDataError
from results import Recorder, parser, root_of
from sepool import load_graphs, save_graphs
from sepool.nn import SEPG
from timing import Contender, take_turns

DATASET, HEIGHT, HIDDEN, BATCH, RATE = "PROTEINS", 3, 64, 128, 5e-4
STEPS = 50  # of the runs whose bits are compared


class PlainGCN(nn.Module):
    """Three of PyG's GCN layers, a sum over the nodes, and the perceptron of SEP-G."""

    def __init__(self, in_channels: int, hidden: int, out_channels: int) -> None:
        super().__init__()
        widths = (in_channels, hidden, hidden)
        self.convs = nn.ModuleList(GCNConv(width, hidden) for width in widths)
        self.classify = nn.Sequential(
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden // 2),
            nn.ReLU(),
            nn.Linear(hidden // 2, out_channels),
        )

    def forward(self, data: Any) -> Tensor:
        x = data.x
        for conv in self.convs:
            x = conv(x, data.edge_index).relu()
        logits: Tensor = self.classify(global_add_pool(x, data.batch, data.num_graphs))
        return logits


def with_trees(root: Path | None, file: str | None) -> list[Any]:
    """The graphs with their trees, from a file or built now."""
    if file is not None:
        return list(load_graphs(file))
    from pyg import add_trees, tu

    return list(add_trees(tu(DATASET, root)))


def without_trees(graphs: Iterable[Any]) -> list[Any]:
    bare = [copy.copy(graph) for graph in graphs]
    for graph in bare:
        del graph.tree
    return bare


def make(kind: Callable[..., nn.Module], graphs: list[Any], device: str = "cpu") -> nn.Module:
    torch.manual_seed(0)
    classes = int(max(int(graph.y) for graph in graphs)) + 1
    return kind(graphs[0].num_features, HIDDEN, classes).to(device)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Any]) -> None:
    """One pass over the batches."""
    for batch in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(batch), batch.y).backward()
        optimizer.step()


def cpu(graphs: list[Any], quick: bool, out: Recorder) -> None:
    torch.set_num_threads(1)
    contenders = []
    for name, kind, data in (
        ("SEP-G", SEPG, graphs),
        ("plain GCN", PlainGCN, without_trees(graphs)),
    ):
        model = make(kind, graphs)
        adam = torch.optim.Adam(model.parameters(), RATE)
        loader = DataLoader(data, BATCH, shuffle=True)
        contenders.append(Contender(name, partial(train, model, adam, loader)))
    take_turns(contenders, 3 if quick else 15, budget=60)
    spent = {c.name: c.seconds for c in contenders}
    out.add(part="cpu", graph=DATASET, hidden=HIDDEN, batch=BATCH, seconds=spent)


def compiled(graphs: list[Any], quick: bool) -> None:
    """Eager and compiled epochs in turns; the two first compiled ones are not counted."""
    torch.set_num_threads(1)
    contenders = []
    for name in ("eager", "compiled"):
        model = make(SEPG, graphs)
        adam = torch.optim.Adam(model.parameters(), RATE)
        runner = torch.compile(model) if name == "compiled" else model
        work = partial(train, runner, adam, DataLoader(graphs, BATCH, shuffle=True))
        for _ in range(3):
            work()
        contenders.append(Contender(name, work))
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    take_turns(contenders, 3 if quick else 15, budget=60)
    again = torch._dynamo.utils.counters["stats"]["unique_graphs"] - before
    for contender in contenders:
        print(f"{contender.name}: {1000 * min(contender.samples):.0f} ms an epoch")
    print(f"compiled again: {again} times")


def cuda(graphs: list[Any], quick: bool, out: Recorder) -> None:
    out.head["machine"]["accelerator"] = torch.cuda.get_device_name()
    batches = [batch.to("cuda") for batch in DataLoader(graphs, BATCH)]
    bare = [batch.to("cuda") for batch in DataLoader(without_trees(graphs), BATCH)]
    contenders = []
    for name, kind, data in (("SEP-G", SEPG, batches), ("plain GCN", PlainGCN, bare)):
        model = make(kind, graphs, "cuda")
        adam = torch.optim.Adam(model.parameters(), RATE)
        contenders.append(Contender(name, partial(timed_pass, model, adam, data)))
    take_turns(contenders, 3 if quick else 15, budget=60)
    spent = {c.name: c.seconds / len(batches) for c in contenders}
    out.add(part="step", graph=DATASET, hidden=HIDDEN, batch=BATCH, seconds=spent)
    out.add(part="logits", graph=DATASET, **logits_against_cpu(graphs, batches))
    for name, kind, data in (("SEP-G", SEPG, batches), ("plain GCN", PlainGCN, bare)):
        first, second = (weights_after(kind, graphs, data) for _ in range(2))
        same = torch.equal(first, second)
        out.add(part="bits", model=name, steps=STEPS, identical=same)


def timed_pass(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Any]) -> None:
    train(model, optimizer, batches)
    torch.cuda.synchronize()


def logits_against_cpu(graphs: list[Any], batches: list[Any]) -> dict[str, float]:
    """The largest difference over all graphs, absolute and as a share of the logits, if above 1."""
    model = make(SEPG, graphs, "cuda")
    train(model, torch.optim.Adam(model.parameters(), RATE), batches)
    with torch.no_grad():
        here = torch.cat([model(batch).cpu() for batch in batches])
        model.cpu()
        there = torch.cat([model(batch.cpu()) for batch in DataLoader(graphs, BATCH)])
    apart = (here - there).abs()
    share = apart / there.abs().clamp(min=1)
    return {
        "largest": float(there.abs().max()),
        "apart": float(apart.max()),
        "share": float(share.max()),
    }


def weights_after(kind: Callable[..., nn.Module], graphs: list[Any], batches: list[Any]) -> Tensor:
    model = make(kind, graphs, "cuda")
    adam = torch.optim.Adam(model.parameters(), RATE)
    for step in range(STEPS):
        train(model, adam, [batches[step % len(batches)]])
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--device", choices=["cpu", "compiled", "cuda"], default="cpu")
    options.add_argument("--graphs", metavar="FILE", help="graphs with trees, instead of --data")
    options.add_argument("--save", metavar="FILE", help="write them, and measure nothing")
    arguments = options.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning, module="torch_geometric")
    try:
        root = None if arguments.graphs else root_of(arguments)
        graphs = with_trees(root, arguments.graphs)
    except MissingDataError as error:
        raise SystemExit(str(error)) from None
    if arguments.save:
        save_graphs(arguments.save, graphs)
        print(f"wrote {arguments.save}")
        return
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("--device cuda: PyTorch sees no GPU here")
    out = Recorder(__file__, arguments.quick)
    if arguments.graphs:  # wherever that file lies
        out.head["command"] = (
            f"python benchmarks/epoch.py --device {arguments.device} --graphs FILE"
        )
    if arguments.device == "cuda":  # another machine, another file
        out.path = out.path.with_name("epoch_cuda.json")
    if arguments.device == "compiled":
        compiled(graphs, arguments.quick)
        return
    measure = {"cpu": cpu, "cuda": cuda}[arguments.device]
    measure(graphs, arguments.quick, out)


if __name__ == "__main__":
    main()
