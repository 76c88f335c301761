"""Custom model with SEPooling: attention on nodes, a GCN on clusters.

`SEPooling` has no weights and returns plain PyG tensors: any PyG layer can precede or follow it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATv2Conv, GCNConv, global_max_pool
from torch_geometric.utils import erdos_renyi_graph

import sepool
from sepool.nn import SEPooling


class TwoScales(nn.Module):
    """Attention on the nodes and a weighted GCN on their clusters, concatenated."""

    def __init__(self, in_channels: int, hidden: int, out_channels: int) -> None:
        super().__init__()
        self.node_conv = GATv2Conv(in_channels, hidden)
        self.pool = SEPooling(reduce="mean")
        self.cluster_conv = GCNConv(hidden, hidden)
        self.classify = nn.Linear(2 * hidden, out_channels)

    def forward(self, data: Data) -> Tensor:
        levels = sepool.hierarchy(data)
        x = self.node_conv(data.x, data.edge_index).relu()
        pooled = self.pool(x, levels, level=1)
        clusters = self.cluster_conv(pooled.x, pooled.edge_index, pooled.edge_weight).relu()
        scales = [global_max_pool(x, levels.batch(0)), global_max_pool(clusters, pooled.batch)]
        return self.classify(torch.cat(scales, 1))


def main() -> None:
    torch.manual_seed(0)
    graphs = []
    for _ in range(200):
        x, edges = torch.randn(15, 4), erdos_renyi_graph(15, 0.2)
        graphs.append(Data(x=x, edge_index=edges, y=int(x[:, 0].max() > 1.7)))
    loader = DataLoader(sepool.AddCodingTree(height=2).apply_all(graphs), 50, shuffle=True)

    model = TwoScales(4, 32, 2)
    print(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, 31):
        losses = []
        for batch in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), batch.y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 10 == 0:
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    main()
