"""Distances in the coding tree, and attention that is biased by them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool.arguments import whole_number
from sepool.nn.attention.dense import DenseRows
from sepool.nn.blocks import check_rows, dropout_rate, head_width, reset
from sepool.nn.eager import Eager
from sepool.pyg.hierarchy import Hierarchy


def tree_distance(
    levels: Hierarchy, pairs: Tensor | None = None, *, max_nodes: int | None = None
) -> Tensor:
    """Level of the lowest common ancestor of pairs of nodes; 0 of a node with itself.

    Pairs without one, of different graphs or with padding, have ``levels.height + 1``.

    Args:
        levels: hierarchy of the graph or batch, from `sepool.hierarchy`.
        pairs: nodes, shape (2, p); None for all pairs of every graph.
        max_nodes: number of nodes of the largest graph; counted where it is left out.

    Returns:
        The levels, shape (p,); or for all pairs (graphs, nodes, nodes), as ``to_dense_batch`` lays
        out the nodes.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=2)(Data(edge_index=edges, num_nodes=4))
        >>> levels = sepool.hierarchy(path)
        >>> tree_distance(levels, torch.tensor([[0, 0, 1], [0, 1, 2]]))
        tensor([0, 1, 2])
        >>> tree_distance(levels)
        tensor([[[0, 1, 2, 2],
                 [1, 0, 2, 2],
                 [2, 2, 0, 1],
                 [2, 2, 1, 0]]])
    """
    if pairs is None:
        return dense_distance(levels, DenseRows.of_level(levels, 0, max_nodes))
    if pairs.dim() != 2 or pairs.size(0) != 2:
        raise ValueError(f"pairs must have the shape (2, p), got {tuple(pairs.shape)}")
    if pairs.is_floating_point() or pairs.is_complex() or pairs.dtype == torch.bool:
        raise ValueError(f"pairs must be numbers of nodes, got {pairs.dtype}: pairs.long()")
    first, second = pairs.long().unbind()
    distance = (first != second).long()
    for level in range(1, levels.height + 1):
        up = levels.assignment(level)
        first, second = up[first], up[second]
        distance += first != second
    return distance


def dense_distance(levels: Hierarchy, rows: DenseRows) -> Tensor:
    """`tree_distance` of all pairs of nodes in a dense batch."""
    cluster = torch.arange(levels.num_clusters(0), device=rows.place.device)
    distance: Tensor | None = None
    for level in range(levels.height + 1):
        cluster = levels.assignment(level)[cluster] if level else cluster
        dense = rows.pack(cluster)
        apart = dense.unsqueeze(1) != dense.unsqueeze(2)
        distance = apart.long() if distance is None else distance + apart
    assert distance is not None
    valid = rows.mask.unsqueeze(1) & rows.mask.unsqueeze(2)
    return distance.masked_fill(~valid, levels.height + 1)


class TreeAttention(Eager, nn.Module):
    r"""Multi-head attention over the nodes of a graph, biased by their distance in the tree.

    .. math::
        \mathrm{softmax}\left(\mathbf{Q} \mathbf{K}^{\top} / \sqrt{d} + b_{\ell(i, j)}\right)
        \mathbf{V}

    where :math:`\ell(i, j)` is the level of the lowest common ancestor (`tree_distance`) and
    :math:`b` is learned, one value a level and head, at first 0. Biases by hierarchical distances
    are those of HDSE (Luo et al., "Enhancing graph transformers with hierarchical distance
    structural encoding", NeurIPS 2024). Time and memory are quadratic in the largest graph.

    Args:
        channels: width of input and output.
        heads: number of heads, a divisor of ``channels``.
        height: number of levels with a bias of their own, at most the height of the trees; levels
            above share the last.
        dropout: dropout rate of the attention.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=2)(Data(x=torch.eye(4), edge_index=edges))
        >>> TreeAttention(4, heads=2, height=2)(path.x, sepool.hierarchy(path)).shape
        torch.Size([4, 4])
    """

    def __init__(
        self, channels: int, heads: int = 4, height: int = 3, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.channels, self.heads = channels, heads
        self.width = head_width(channels, heads)
        self.height = whole_number("height", height, 1)
        self.dropout = dropout_rate(dropout)
        self.qkv = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)
        self.bias = nn.Parameter(torch.zeros(height + 1, heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, levels: Hierarchy, max_nodes: int | None = None) -> Tensor:
        """New features of every node.

        Args:
            x: features of the nodes.
            levels: hierarchy of the graph or batch, from `sepool.hierarchy`.
            max_nodes: number of nodes of the largest graph; counted where it is left out, which
                `torch.compile` cannot do within one graph.
        """
        check_rows(x, levels, self.channels, self.height)
        rows = DenseRows.of_level(levels, 0, max_nodes)
        qkv = rows.pack(self.qkv(x).view(-1, 3, self.heads, self.width))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # graphs, heads, nodes, width
        level = dense_distance(levels, rows).clamp(max=self.height)
        bias = F.embedding(level, self.bias).permute(0, 3, 1, 2).to(q.dtype)
        bias = bias.masked_fill(~rows.mask[:, None, None], -torch.inf)
        rate = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=rate)
        out: Tensor = self.out(rows.unpack(mixed.transpose(1, 2).flatten(2)))
        return out

    def __repr__(self) -> str:
        return f"TreeAttention({self.channels}, heads={self.heads}, height={self.height})"
