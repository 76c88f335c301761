"""Lets the coding tree see features: edges between nodes that look alike weigh more.

The tree of a graph without weights follows its structure alone. `AddCodingTree` takes a function
from the data to edge weights; here it is the similarity of the features at both ends. What a model
pools along the tree stays as it is: only who belongs to whom changes.
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
    """Between 0.7 and 1, and the same in both directions, for every edge.

    The more the features count, the more clusters there are, and small ones are pure by themselves.
    """
    source, target = data.edge_index
    return 0.7 + 0.3 * F.cosine_similarity(data.x[source], data.x[target]).clamp(min=0)


def purity(data: Data) -> float:
    """The share of nodes that are of the commonest kind in their cluster on level 1."""
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
        found = sepool.AddCodingTree(height=2, edge_weight=edge_weight)(data)
        clusters = sepool.hierarchy(found).num_clusters(1)
        print(
            f"{name:16}: {clusters:3} clusters, {purity(found):.0%} of the nodes among their kind"
        )


if __name__ == "__main__":
    main()
