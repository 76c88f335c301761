"""Pooling and unpooling of a batch of graphs along their coding trees.

`AddCodingTree` adds a tree to every graph; PyG's `Batch` and `DataLoader` collate the trees.
"""

from __future__ import annotations

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import barabasi_albert_graph, to_undirected

import sepool
from sepool.nn import SEPooling, SEPUnpooling


def main() -> None:
    torch.manual_seed(0)
    graphs = []
    for num_nodes in (20, 50, 100):
        edges = to_undirected(barabasi_albert_graph(num_nodes, 2))
        graphs.append(Data(x=torch.ones(num_nodes, 1), edge_index=edges))
    batch = Batch.from_data_list(sepool.AddCodingTree(height=3).apply_all(graphs))

    # The hierarchy of the batch: nodes on level 0, roots on level 3.
    levels = sepool.hierarchy(batch)
    pool, unpool = SEPooling(), SEPUnpooling()
    x = batch.x
    print(f"level 0: {len(x):3} nodes, {batch.num_edges} directed edges")
    for level in range(1, levels.height + 1):
        # Pooled features S X and coarse graph S A S^T.
        pooled = pool(x, levels, level)
        x, edges, sizes = pooled.x, pooled.edge_index, torch.bincount(pooled.batch).tolist()
        print(
            f"level {level}: {len(x):3} nodes ({sizes} a graph), {edges.size(1)} edges, "
            f"weight {pooled.edge_weight.sum():.0f}, features sum to {x.sum():.0f}"
        )

    # A root holds the number of its nodes; unpooling copies it to every node.
    for level in range(levels.height, 0, -1):
        x = unpool(x, levels, level)
    sizes = x.flatten()[batch.ptr[:-1]].int().tolist()
    print(f"unpooled to level 0, sizes of the graphs: {sizes}")


if __name__ == "__main__":
    main()
