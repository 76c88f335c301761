"""GAT: multi-head attention to the neighbours."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency, edge_softmax, weighted_propagate
from sepool_experiments.layers.attention import NEGATIVE_SLOPE
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.segments import unpool
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class Attention(nn.Module):
    """Multi-head attention on ``X W``, equal to PyG's ``GATConv``.

    A node attends to its neighbours and itself by ``softmax(LeakyReLU(a_1 . h_i + a_2 . h_j))``,
    with dropout. Heads of ``width`` columns are concatenated or averaged.
    """

    def __init__(
        self,
        heads: int,
        width: int,
        *,
        concat: bool = True,
        dropout: float = 0.0,
        salt: int = 0,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        self.heads, self.width, self.concat = heads, width, concat
        lead = () if replicas is None else (replicas,)
        self.att_dst = nn.Parameter(torch.empty(*lead, heads, width))
        self.att_src = nn.Parameter(torch.empty(*lead, heads, width))
        self.bias = nn.Parameter(torch.zeros(*lead, heads * width if concat else width))
        bound = (6 / (heads + width)) ** 0.5  # PyG's initialisation
        for parameter in (self.att_dst, self.att_src):
            nn.init.uniform_(parameter, -bound, bound)
        self.drop = Dropout(dropout, salt, "edge_dropout")

    def forward(self, x: Tensor, a: Adjacency) -> Tensor:
        """Return the new features of every node, from ``X W``."""
        heads = x.view(*x.shape[:-1], self.heads, self.width)  # (N, [R,] heads, width)
        scores = [(heads * vector).sum(-1) for vector in (self.att_src, self.att_dst)]
        ptr, _, order = a.transpose()
        source_score = unpool(scores[0].flatten(1), ptr, a.index, order)
        target_score = unpool(scores[1].flatten(1), a.ptr, a.row)
        share = edge_softmax(a, F.leaky_relu(source_score + target_score, NEGATIVE_SLOPE))
        share = self.drop(share.view(-1, *x.shape[1:-1], self.heads)).flatten(1)
        out = weighted_propagate(a, heads.reshape(len(x), -1, self.width), share)
        out = out.view(*x.shape[:-1], self.heads, self.width)
        return (out.flatten(-2) if self.concat else out.mean(-2)) + self.bias


class GAT(NodeModel):
    """Velickovic et al., "Graph attention networks", 2018.

    Two layers, ELU between them. As published: 8 heads of 8 columns, then one of as many as there
    are classes (PubMed: the mean of 8); dropout 0.6 before both layers and on the attention; weight
    decay 5e-4 (PubMed 1e-3), learning rate 5e-3 (PubMed 0.01), patience 100.

    Args:
        hidden: columns a head in the first layer.
        heads: heads of the first layer.
        out_heads: heads of the second.
        edge_dropout: dropout rate of the attention.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        heads: int = 8,
        out_heads: int = 1,
        dropout: float = 0.0,
        edge_dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        wide = heads * hidden
        self.first = InputLinear(in_channels, wide, dropout, bias=False, replicas=replicas)
        self.attention = Attention(heads, hidden, dropout=edge_dropout, salt=2, replicas=replicas)
        self.drop = Dropout(dropout, 1)
        self.last = Linear(wide, out_heads * out_channels, bias=False, replicas=replicas)
        self.attention_again = Attention(
            out_heads, out_channels, concat=False, dropout=edge_dropout, salt=3, replicas=replicas
        )

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the logits of all nodes."""
        x = F.elu(self.attention(self.first.sparse_product(graph.sparse), graph.adjacency))
        logits: Tensor = self.attention_again(self.last(self.drop(x)), graph.adjacency)
        return logits
