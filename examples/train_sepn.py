"""Trains SEP-N to label the nodes of one graph, ten models at once.

A network of five groups; every node has a noisy hint of its group as features, and five nodes a
group are labelled. With `replicas=10` ten models with weights of their own share the graph and
train in the time of few: their logits stand side by side.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.utils import stochastic_blockmodel_graph

import sepool
from sepool.nn import SEPN

GROUPS, SIZE, LABELLED, MODELS = 5, 60, 5, 10


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
    counts = [sepool.hierarchy(data).num_clusters(level) for level in range(4)]
    print(
        f"{data.num_nodes} nodes, {data.num_edges // 2} edges; on the levels of the tree: {counts}"
    )

    model = SEPN(GROUPS, 32, GROUPS, blocks=2, dropout=0.5, pool_dropout=0.2, replicas=MODELS)
    graph = model.prepare(data)  # what depends on no weights, once for all epochs
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    targets = data.y.unsqueeze(1).expand(-1, MODELS)
    for epoch in range(1, 101):
        model.train()
        logits = model.forward_prepared(graph)  # (nodes, models, groups)
        rows, wanted = logits[data.train_mask], targets[data.train_mask]
        loss = F.cross_entropy(rows.flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        (loss * MODELS).backward()  # the sum of the models' losses: none sees another's
        optimizer.step()
        if epoch % 25 == 0:
            model.eval()
            with torch.no_grad():
                guess = model.forward_prepared(graph).argmax(-1)
            right = (guess == targets)[~data.train_mask].float().mean(0)
            print(
                f"epoch {epoch:3}: loss {loss:.3f}, accuracy on unlabelled nodes "
                f"{right.mean():.0%} +- {right.std():.0%} over {MODELS} models"
            )


if __name__ == "__main__":
    main()
