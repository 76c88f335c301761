"""What sepool does, in about a minute: trees, a picture, and a network that pools along trees.

    python examples/demo.py --picture demo.png

Builds the coding trees of a karate club, draws one of them, then trains SEP-G on generated graphs
and compares it with a GCN that sums over the nodes. `make demo` runs it.
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
FEATURES = train_sepg.LARGEST_DEGREE + 1


class PlainGCN(nn.Module):
    """As many convolutions as SEP-G and the same perceptron, but every readout is of all nodes."""

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
        x, seen = data.x, []
        for conv in self.convs:
            x = conv(x, data.edge_index).relu()
            seen.append(global_add_pool(x, data.batch))
        return self.classify(torch.cat(seen, 1))


def train(model: nn.Module, graphs: list[Data]) -> float:
    """The accuracy on the last quarter of the graphs, after training on the others."""
    cut = 3 * len(graphs) // 4
    train_on = DataLoader(graphs[:cut], batch_size=32, shuffle=True)
    test_on = DataLoader(graphs[cut:], batch_size=100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(EPOCHS):
        model.train()
        for batch in train_on:
            optimizer.zero_grad()
            F.cross_entropy(model(batch), batch.y).backward()
            optimizer.step()
    return train_sepg.accuracy(model, test_on)


def compare() -> None:
    """Trains both models with every seed, and prints what came of it."""
    torch.manual_seed(0)
    graphs = [train_sepg.random_graph(label % 2) for label in range(GRAPHS)]
    start = perf_counter()
    graphs = sepool.AddCodingTree(height=3, progress=False).apply_all(graphs)
    spent = perf_counter() - start
    print(f"{GRAPHS} graphs, half of them with communities; their trees took {spent:.2f} s\n")
    print(f"{'model':<10}  {'weights':>7}  {'test accuracy':>15}  {'seconds':>7}")
    models = {"SEP-G": lambda: SEPG(FEATURES, HIDDEN, 2), "plain GCN": PlainGCN}
    for name, make in models.items():
        start, found = perf_counter(), []
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = make()
            found.append(100 * train(model, graphs))
        right, weights = torch.tensor(found), sum(p.numel() for p in model.parameters())
        shown = f"{right.mean():.1f} +- {right.std():.1f} %"
        print(f"{name:<10}  {weights:>7,}  {shown:>15}  {perf_counter() - start:>7.1f}")
    print(f"\nMean and standard deviation over {SEEDS} seeds, {EPOCHS} epochs each.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", metavar="FILE", help="draw a tree into this file")
    torch.set_num_threads(1)  # batches this small are not worth sharing out
    karate.show(parser.parse_args().picture)
    print()
    compare()


if __name__ == "__main__":
    main()
