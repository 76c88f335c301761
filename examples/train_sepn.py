"""Training of SEP-N: labels for the nodes of one graph.

A network of five groups; the features of a node are a noisy hint of its group, and five nodes a
group are labelled.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.utils import stochastic_blockmodel_graph

import sepool
from sepool.nn import SEPN

GROUPS, SIZE, LABELLED = 5, 60, 5


def network() -> Data:
    chances = torch.full((GROUPS, GROUPS), 0.01).fill_diagonal_(0.1)
    y = torch.arange(GROUPS).repeat_interleave(SIZE)
    x = F.one_hot(y, GROUPS).float() + 1.5 * torch.randn(len(y), GROUPS)
    labelled = torch.arange(len(y)) % SIZE < LABELLED
    edges = stochastic_blockmodel_graph([SIZE] * GROUPS, chances)
    return Data(x=x, edge_index=edges, y=y, train_mask=labelled)


def main() -> None:
    torch.manual_seed(0)
    data = sepool.AddCodingTree(height=3)(network())
    levels = sepool.hierarchy(data)
    counts = [levels.num_clusters(level) for level in range(4)]
    print(
        f"{data.num_nodes} nodes, {data.num_edges // 2} edges; on the levels of the tree: {counts}"
    )

    model = SEPN(GROUPS, 32, GROUPS, blocks=2, dropout=0.5, pool_dropout=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, 101):
        model.train()
        logits = model(data, levels)
        loss = F.cross_entropy(logits[data.train_mask], data.y[data.train_mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 25 == 0:
            model.eval()
            with torch.no_grad():
                correct = model(data, levels).argmax(-1) == data.y
            accuracy = correct[~data.train_mask].float().mean()
            print(f"epoch {epoch:3}: loss {loss:.3f}, accuracy on unlabelled nodes {accuracy:.0%}")


if __name__ == "__main__":
    main()
