"""Graph attention convolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.attention import attention
from sepool_experiments.layers.conv_base import Conv, Operator
from sepool_experiments.layers.feature_table import Features
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.linear_chain import linear_chain


class GAT(Conv):
    """Velickovic et al., "Graph attention networks", 2018, with one head.

    ``softmax(LeakyReLU(a_1 . W x_i + a_2 . W x_j))`` over neighbours and the node itself; edge
    weights are ignored.
    """

    supports_multiplicity = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels, bias=False, replicas=replicas)
        self.score = Linear(out_channels, 2, bias=False, replicas=replicas)
        lead = () if replicas is None else (replicas,)
        self.bias = nn.Parameter(torch.zeros(*lead, out_channels))

    @staticmethod
    def prepare(a: Adjacency) -> Operator:
        """Return the adjacency with exactly one loop a node."""
        not_loop = a.row != a.index
        nodes = torch.arange(a.num_nodes, device=a.ptr.device)
        row, order = torch.cat([a.row[not_loop], nodes]).sort(stable=True)
        col = torch.cat([a.index[not_loop], nodes])[order]
        ptr = torch._convert_indices_from_coo_to_csr(row, a.num_nodes)
        return Operator(Adjacency(ptr, col, None, a.symmetric))

    def forward(
        self,
        x: Features,
        operator: Operator,
        num_valid: Tensor | None = None,
        row_index: Tensor | None = None,
    ) -> Tensor:
        """Return the new features of every node; replicas with padding have ``num_valid``."""
        # Attention sums to 1 and keeps the bias.
        layers = [(self.linear.weight, self.bias), self._score_layer()]
        hidden, scores = (
            linear_chain(x, [layer], num_valid, row_index, relu=False) for layer in layers
        )
        return attention(operator.adjacency, hidden, scores, operator.node_term)

    def _score_layer(self) -> tuple[Tensor, Tensor]:
        """``W a`` and a zero bias: scores and their gradient without ``x W``."""
        weight = self.linear.weight @ self.score.weight
        return weight, weight.new_zeros(*weight.shape[:-2], weight.size(-1))
