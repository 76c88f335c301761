"""Compiled training over a loader: prints the graphs compiled after every epoch.

python -m tests.nn.compiled_epochs BACKEND MODEL outside|inside EPOCHS [DATASET]
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F
from tests.nn.graphs import add_trees, random_graph
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GraphConv, global_add_pool

import sepool
from sepool.nn import SEPG, SEPN, SEPooling


class OwnModel(nn.Module):
    """A model of PyG's layers around `SEPooling`."""

    def __init__(self, in_channels: int, hidden: int, out_channels: int) -> None:
        super().__init__()
        self.first, self.second = GraphConv(in_channels, hidden), GraphConv(hidden, hidden)
        self.pool, self.last = SEPooling("max"), nn.Linear(hidden, out_channels)

    def forward(self, data: Data, levels: sepool.pyg.hierarchy.Hierarchy | None = None):
        levels = sepool.hierarchy(data) if levels is None else levels
        x = self.first(data.x, data.edge_index).relu()
        pooled = self.pool(x, levels, 1)
        x = self.second(pooled.x, pooled.edge_index, pooled.edge_weight).relu()
        return self.last(global_add_pool(x, pooled.batch, levels.num_clusters(levels.height)))


MODELS = {"SEPG": SEPG, "SEPN": SEPN, "own": OwnModel}


def graphs_of(dataset: str) -> list[Data]:
    """A TU dataset with trees, or random graphs of 8 to 40 nodes."""
    if dataset:
        from torch_geometric.datasets import TUDataset

        root = Path(os.environ["SEPOOL_DATA"], "TU")
        trees = sepool.AddCodingTree(3, "fast", progress=False)
        return list(trees.apply_all(TUDataset(str(root), dataset)))
    sizes = torch.randint(8, 40, (90,)).tolist()
    graphs = [random_graph(size, seed) for seed, size in enumerate(sizes)]
    return add_trees(graphs, [(n, n // 2, n // 4, 1) for n in sizes])


def main(backend: str, name: str, reading: str, epochs: str, dataset: str = "") -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    graphs = graphs_of(dataset)
    model = MODELS[name](graphs[0].num_features, 16, 2)
    outside = reading == "outside"
    compiled = torch.compile(model, backend=backend, fullgraph=outside)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    counters = torch._dynamo.utils.counters
    for _ in range(int(epochs)):
        for batch in DataLoader(graphs, 16 if not dataset else 128, shuffle=True):
            args = (batch, sepool.hierarchy(batch)) if outside else (batch,)
            optimizer.zero_grad()
            out = compiled(*args)
            y = batch.y if len(out) == len(batch.y) else batch.y[batch.batch]
            F.cross_entropy(out, y).backward()
            optimizer.step()
        print("graphs", counters["stats"]["unique_graphs"], flush=True)
    with torch.no_grad():
        torch.testing.assert_close(compiled(*args), model(*args), rtol=1e-3, atol=1e-3)
    assert not torch._dynamo.utils.counters["recompile_limit"]


if __name__ == "__main__":
    main(*sys.argv[1:])
