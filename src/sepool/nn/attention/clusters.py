"""Attention of nodes or clusters to the clusters of their graph."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool.arguments import one_of, whole_number
from sepool.nn.attention.dense import DenseRows
from sepool.nn.blocks import check_rows, head_width, reset
from sepool.nn.eager import Eager
from sepool.nn.pooling import members
from sepool.nn.segments import pool_sum
from sepool.pyg.hierarchy import Hierarchy

QUERIES = ("nodes", "clusters")


class ClusterAttention(Eager, nn.Module):
    r"""Multi-head attention to the clusters of one level of the same graph.

    Keys :math:`\mathbf{K}_c` are means over the nodes of cluster :math:`c`, and with
    :math:`w_{ic} = \exp(\mathbf{q}_i^{\top} \mathbf{K}_c / \sqrt{d})`

    .. math::
        \mathbf{h}_i = \frac{\sum_c w_{ic} \mathbf{V}_c}{\sum_c w_{ic}}
        \qquad \text{or} \qquad
        \mathbf{h}_i = \frac{\sum_c w_{ic} \sum_{t \in c}
            \kappa(\tilde{\mathbf{q}}_i, \mathbf{k}_t) \mathbf{v}_t}{\sum_c w_{ic}
            \sum_{t \in c} \kappa(\tilde{\mathbf{q}}_i, \mathbf{k}_t)}

    with :math:`\kappa(\mathbf{q}, \mathbf{k}) = \phi(\mathbf{q})^{\top} \phi(\mathbf{k})` and
    :math:`\phi = \mathrm{elu} + 1`: the kernelised attention N2C-Attn-T of Cluster-GT (Huang et
    al., "Cluster-wise graph transformer with dual-granularity kernelized attention", NeurIPS
    2024), along coding trees instead of METIS partitions. Sums over the nodes of a cluster are
    taken once, so that the cost is that of the pairs of queries and clusters.

    Args:
        channels: width of input and output.
        heads: number of heads, a divisor of ``channels``.
        level: level of the clusters.
        queries: "nodes" or "clusters", of the same level; a row of the result each.
        kernel: attend to the nodes inside the clusters by the kernel; otherwise to their means.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=2)(Data(x=torch.eye(4), edge_index=edges))
        >>> levels = sepool.hierarchy(path)
        >>> ClusterAttention(4, heads=2)(path.x, levels).shape
        torch.Size([4, 4])
        >>> ClusterAttention(4, heads=2, queries="clusters", kernel=True)(path.x, levels).shape
        torch.Size([2, 4])
    """

    def __init__(
        self,
        channels: int,
        heads: int = 4,
        level: int = 1,
        *,
        queries: str = "nodes",
        kernel: bool = False,
    ) -> None:
        super().__init__()
        self.channels, self.heads = channels, heads
        self.width = head_width(channels, heads)
        self.level = whole_number("level", level, 1)
        self.queries = one_of("queries", queries, QUERIES)
        self.kernel = kernel
        self.query, self.key, self.value, self.out = (
            nn.Linear(channels, channels) for _ in range(4)
        )
        self.node_query, self.node_key = (
            nn.Linear(channels, channels) if kernel else None for _ in range(2)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self)

    def forward(
        self,
        x: Tensor,
        levels: Hierarchy,
        max_nodes: int | None = None,
        max_clusters: int | None = None,
    ) -> Tensor:
        """New features of every node, or of every cluster of the level.

        Args:
            x: features of the nodes.
            levels: hierarchy of the graph or batch, from `sepool.hierarchy`.
            max_nodes: number of nodes of the largest graph; counted where it is left out, which
                `torch.compile` cannot do within one graph.
            max_clusters: the same of the clusters of the level.
        """
        check_rows(x, levels, self.channels, self.level)
        sizes = self._sum(torch.ones(x.size(0), 1, device=x.device), levels)
        clusters = (self._sum(x, levels) / sizes).to(x.dtype)
        keys = DenseRows.of_level(levels, self.level, max_clusters, "max_clusters")
        of_nodes = self.queries == "nodes"
        rows = DenseRows.of_level(levels, 0, max_nodes) if of_nodes else keys
        origin = x if of_nodes else clusters
        q = rows.pack(self._heads(self.query, origin))
        k = keys.pack(self._heads(self.key, clusters))
        scores = torch.einsum("bqhd,bchd->bhqc", q, k) / self.width**0.5
        share = scores.masked_fill(~keys.mask[:, None, None], -torch.inf).softmax(-1).to(q.dtype)
        if self.node_query is None:
            values = keys.pack(self._heads(self.value, clusters))
            mixed = torch.einsum("bhqc,bchd->bqhd", share, values)
        else:
            feature = rows.pack(F.elu(self._heads(self.node_query, origin)) + 1)
            mixed = self._through_nodes(share, feature, x, levels, keys)
        out: Tensor = self.out(rows.unpack(mixed.flatten(2)))
        return out

    def _through_nodes(
        self, share: Tensor, feature: Tensor, x: Tensor, levels: Hierarchy, keys: DenseRows
    ) -> Tensor:
        """Kernelised sums over the nodes of the clusters; the last column is the denominator."""
        key = F.elu(self._heads(self.node_key, x)) + 1
        value = self._heads(self.value, x)
        value = torch.cat([value, value.new_ones(*value.shape[:-1], 1)], -1)
        outer = keys.pack(self._sum(key.unsqueeze(-1) * value.unsqueeze(-2), levels))
        total = torch.einsum("bhqc,bchde->bqhde", share, outer)
        total = (feature.unsqueeze(-2) @ total).squeeze(-2)
        return total[..., :-1] / total[..., -1:].clamp(min=torch.finfo(total.dtype).tiny)

    def _heads(self, layer: nn.Module | None, x: Tensor) -> Tensor:
        assert layer is not None
        rows: Tensor = layer(x)
        return rows.view(-1, self.heads, self.width)

    def _sum(self, x: Tensor, levels: Hierarchy) -> Tensor:
        """Sums over the nodes of every cluster of the level."""
        for level in range(1, self.level + 1):
            x = pool_sum(x, *members(levels, level))
        return x

    def __repr__(self) -> str:
        return (
            f"ClusterAttention({self.channels}, heads={self.heads}, level={self.level}, "
            f"queries={self.queries!r}, kernel={self.kernel})"
        )
