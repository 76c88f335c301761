"""Training of SEP-G: graphs with communities against graphs without.

All graphs have equal numbers of nodes, similar numbers of edges, and node degrees as features: the
classes differ in the placement of the edges alone.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import degree, stochastic_blockmodel_graph

import sepool
from sepool.nn import SEPG

MAX_DEGREE = 15


def random_graph(label: int) -> Data:
    """Return four groups of ten nodes, denser inside (1) or of uniform density (0)."""
    inside, outside = (0.4, 0.016) if label else (0.105, 0.105)
    chances = torch.full((4, 4), outside).fill_diagonal_(inside)
    edges = stochastic_blockmodel_graph([10] * 4, chances)
    degrees = degree(edges[0], 40).long().clamp(max=MAX_DEGREE)
    return Data(x=F.one_hot(degrees, MAX_DEGREE + 1).float(), edge_index=edges, y=label)


def accuracy(model: SEPG, loader: DataLoader) -> float:
    model.eval()
    with torch.no_grad():
        correct = sum(int((model(batch).argmax(1) == batch.y).sum()) for batch in loader)
    return correct / len(loader.dataset)


def main() -> None:
    torch.manual_seed(0)
    graphs = [random_graph(label % 2) for label in range(400)]
    graphs = sepool.AddCodingTree(height=3).apply_all(graphs)
    train = DataLoader(graphs[:300], batch_size=32, shuffle=True)
    test = DataLoader(graphs[300:], batch_size=100)

    model = SEPG(MAX_DEGREE + 1, 32, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(1, 21):
        model.train()
        total = 0.0
        for batch in train:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), batch.y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            mean = total / len(train)
            print(f"epoch {epoch:2}: loss {mean:.3f}, test accuracy {accuracy(model, test):.0%}")


if __name__ == "__main__":
    main()
