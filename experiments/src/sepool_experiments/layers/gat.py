"""Graph attention convolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.attention import (
    Lookup,
    attention,
    has_attention_kernel,
    pooled_attention,
)
from sepool_experiments.layers.conv_base import Conv, Operator
from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.linear import Linear, affine
from sepool_experiments.layers.linear_chain import (
    gradient_only_linear,
    has_chain_kernel,
    linear_chain,
)


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

    def forward(self, x: Tensor, operator: Operator) -> Tensor:
        """Return the new features of every node."""
        scores = affine(x, *self._score_layer())
        hidden = affine(x, self.linear.weight, self.bias)  # attention sums to 1 and keeps the bias
        return attention(operator.adjacency, hidden, scores, operator.node_term)

    def forward_padded(
        self, x: Features, operator: Operator, num_valid: Tensor, row_index: Tensor | None = None
    ) -> Tensor:
        """Convolve replicas with padding."""
        hidden, scores, lookup = self._project(x, operator.adjacency, num_valid, row_index)
        return attention(operator.adjacency, hidden, scores, operator.node_term, lookup)

    def forward_pooled(
        self,
        x: Features,
        operator: Operator,
        num_valid: Tensor,
        row_index: Tensor | None,
        ptr: Tensor,
        assignment: Tensor,
        row_weight: Tensor | None = None,
    ) -> Tensor:
        """Return ``S relu(x)`` of `forward_padded`."""
        a, bias = operator
        hidden, scores, lookup = self._project(x, a, num_valid, row_index)
        return pooled_attention(a, hidden, scores, bias, ptr, assignment, row_weight, lookup)

    def _project(
        self, x: Features, a: Adjacency, num_valid: Tensor, row_index: Tensor | None
    ) -> tuple[Tensor, Tensor, Lookup | None]:
        """Features and scores of every node, or of the distinct rows of a table.

        With a lookup the first two are placeholders that carry the gradient.
        """
        layers = [(self.linear.weight, self.bias), self._score_layer()]
        if isinstance(x, FeatureTable) and row_index is not None:
            kernels = has_chain_kernel(x, row_index, layers, len(row_index))
            kernels = kernels and has_attention_kernel(a, self.bias)
            if kernels and _has_few_rows(x, row_index, self.bias):
                hidden, scores = (
                    gradient_only_linear(x, layer, num_valid, row_index) for layer in layers
                )
                with torch.no_grad():
                    rows, row_scores = (x.unique_linear(*layer) for layer in layers)
                index = x.unique_index(row_index, len(num_valid))
                return hidden, scores, Lookup(rows, row_scores, index)
        hidden, scores = (
            linear_chain(x, [layer], num_valid, row_index, relu=False) for layer in layers
        )
        return hidden, scores, None

    def _score_layer(self) -> tuple[Tensor, Tensor]:
        """``W a`` and a zero bias: scores and their gradient without ``x W``."""
        weight = self.linear.weight @ self.score.weight
        return weight, weight.new_zeros(*weight.shape[:-2], weight.size(-1))

    def reset_parameters(self) -> None:
        """Draw new weights; the bias is 0."""
        super().reset_parameters()
        nn.init.zeros_(self.bias)


def _has_few_rows(x: FeatureTable, row_index: Tensor, bias: Tensor) -> bool:
    """Return True if distinct rows are fewer than nodes and 32 bits count their elements."""
    rows = 0 if x.unique is None else len(x.unique) * len(bias)
    return 0 < rows <= len(row_index) and rows * max(bias.size(1), 2) < 2**31  # 2 scores a row
