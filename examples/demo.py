"""Demonstration in a minute: coding trees, a picture, and pooling along trees.

    python examples/demo.py --picture demo.png

Builds and draws coding trees of the karate club, then trains SEP-G and a GCN with sum pooling on
generated graphs. `make demo` runs it.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_add_pool

import karate
import sepool
import train_sepg
from sepool.nn import SEPG

GRAPHS, EPOCHS, SEEDS, HIDDEN = 400, 15, 5, 32
FEATURES = train_sepg.MAX_DEGREE + 1


class PlainGCN(nn.Module):
    """GCN with the depth and the perceptron of SEP-G, and sum pooling of all nodes."""

    def __init__(self) -> None:
        super().__init__()
        widths = (FEATURES, HIDDEN, HIDDEN)
        self.convs = nn.ModuleList(GCNConv(width, HIDDEN) for width in widths)
        self.classify = nn.Sequential(
            nn.Linear(3 * HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN // 2),
            nn.ReLU(),
            nn.Linear(HIDDEN // 2, 2),
        )

    def forward(self, data: Data) -> Tensor:
        x, readouts = data.x, []
        for conv in self.convs:
            x = conv(x, data.edge_index).relu()
            readouts.append(global_add_pool(x, data.batch))
        return self.classify(torch.cat(readouts, 1))


def train(model: nn.Module, graphs: list[Data]) -> float:
    """Train on three quarters of the graphs, return the accuracy on the others."""
    split = 3 * len(graphs) // 4
    train_loader = DataLoader(graphs[:split], batch_size=32, shuffle=True)
    test_loader = DataLoader(graphs[split:], batch_size=100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(EPOCHS):
        model.train()
        for batch in train_loader:
            optimizer.zero_grad()
            F.cross_entropy(model(batch), batch.y).backward()
            optimizer.step()
    return train_sepg.accuracy(model, test_loader)


def compare() -> None:
    """Train both models with every seed and print a table."""
    torch.manual_seed(0)
    graphs = [train_sepg.random_graph(label % 2) for label in range(GRAPHS)]
    start = perf_counter()
    graphs = sepool.AddCodingTree(height=3, progress=False).apply_all(graphs)
    seconds = perf_counter() - start
    print(f"{GRAPHS} graphs, half of them with communities; trees in {seconds:.2f} s\n")
    print(f"{'model':<10}  {'weights':>7}  {'test accuracy':>15}  {'seconds':>7}")
    models = {"SEP-G": lambda: SEPG(FEATURES, HIDDEN, 2), "plain GCN": PlainGCN}
    for name, make in models.items():
        start, accuracies = perf_counter(), []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = make()
            accuracies.append(100 * train(model, graphs))
        accuracy, weights = torch.tensor(accuracies), sum(p.numel() for p in model.parameters())
        text = f"{accuracy.mean():.1f} +- {accuracy.std():.1f} %"
        print(f"{name:<10}  {weights:>7,}  {text:>15}  {perf_counter() - start:>7.1f}")
    print(f"\nMean and standard deviation over {SEEDS} seeds, {EPOCHS} epochs each.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", metavar="FILE", help="draw a tree into this file")
    torch.set_num_threads(1)  # the batches are too small for more
    karate.show(parser.parse_args().picture)
    print()
    compare()


if __name__ == "__main__":
    main()
