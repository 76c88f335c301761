"""Coding trees from features: edge weights by the similarity of their ends.

The tree of an unweighted graph depends on its structure alone. `AddCodingTree` takes a function
from the data to edge weights, here the cosine similarity of the features. The weights change the
clusters only; models pool the graph as before.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import stochastic_blockmodel_graph

import sepool

GROUPS, SIZE = 8, 40


def similarity(data: Data) -> Tensor:
    """Return a weight between 0.7 and 1 for every edge, equal in both directions.

    A larger share of the features makes more and smaller clusters, which are purer by chance.
    """
    source, target = data.edge_index
    return 0.7 + 0.3 * F.cosine_similarity(data.x[source], data.x[target]).clamp(min=0)


def purity(data: Data) -> float:
    """Return the share of nodes in the largest group of their cluster on level 1."""
    clusters = sepool.hierarchy(data).assignment(1)
    counts = torch.zeros(int(clusters.max()) + 1, GROUPS)
    counts.index_put_((clusters, data.y), torch.ones(len(clusters)), accumulate=True)
    return float(counts.max(1).values.sum() / len(clusters))


def main() -> None:
    torch.manual_seed(0)
    chances = torch.full((GROUPS, GROUPS), 0.03).fill_diagonal_(0.15)
    y = torch.arange(GROUPS).repeat_interleave(SIZE)
    x = 2 * F.one_hot(y, GROUPS).float() + torch.randn(len(y), GROUPS)
    data = Data(x=x, edge_index=stochastic_blockmodel_graph([SIZE] * GROUPS, chances), y=y)

    for name, edge_weight in (("structure alone", None), ("similar features", similarity)):
        transformed = sepool.AddCodingTree(height=2, edge_weight=edge_weight)(data)
        clusters = sepool.hierarchy(transformed).num_clusters(1)
        print(f"{name:16}: {clusters:3} clusters, purity {purity(transformed):.0%}")


if __name__ == "__main__":
    main()
