"""Graph attention: a convolution that learns how much of whom it gathers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.attention import Table, attention, attention_pool, sees_by_kernels
from sepool_experiments.layers.conv_base import Conv, Prepared
from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.layers import has_layer_kernel, layer_unwritten, layers_rows
from sepool_experiments.layers.linear import Linear, affine


class GAT(Conv):
    """Velickovic et al., "Graph attention networks", 2018, one head.

    Edges weigh ``softmax(LeakyReLU(a_1 . W x_i + a_2 . W x_j))``, every node sees itself too; edge
    weights play no role.
    """

    knows_twins = True

    def __init__(self, in_channels: int, out_channels: int, replicas: int | None = None) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels, bias=False, replicas=replicas)
        self.score = Linear(out_channels, 2, bias=False, replicas=replicas)
        lead = () if replicas is None else (replicas,)
        self.bias = nn.Parameter(torch.zeros(*lead, out_channels))

    @staticmethod
    def prepare(a: Adjacency) -> Prepared:
        """The adjacency with exactly one loop a node."""
        apart = a.row != a.index
        nodes = torch.arange(a.num_nodes, device=a.ptr.device)
        row, order = torch.cat([a.row[apart], nodes]).sort(stable=True)
        col = torch.cat([a.index[apart], nodes])[order]
        ptr = torch._convert_indices_from_coo_to_csr(row, a.num_nodes)
        return Prepared(Adjacency(ptr, col, None, a.symmetric))

    def forward(self, x: Tensor, prepared: Prepared) -> Tensor:
        """The new features of every node."""
        scores = affine(x, *self._scoring())
        seen = affine(x, self.linear.weight, self.bias)  # shares sum to 1: the bias can be in it
        return attention(prepared.adjacency, seen, scores, prepared.node)

    def of_replicas(
        self, x: Features, prepared: Prepared, real: Tensor, source: Tensor | None = None
    ) -> Tensor:
        """The same, and padding is spared."""
        seen, scores, table = self._rows(x, prepared.adjacency, real, source)
        return attention(prepared.adjacency, seen, scores, prepared.node, table)

    def pooled_of_replicas(
        self,
        x: Features,
        prepared: Prepared,
        real: Tensor,
        source: Tensor | None,
        ptr: Tensor,
        assignment: Tensor,
        times: Tensor | None = None,
    ) -> Tensor:
        """``S relu(x)`` of that."""
        seen, scores, table = self._rows(x, prepared.adjacency, real, source)
        return attention_pool(
            prepared.adjacency, seen, scores, prepared.node, ptr, assignment, times, table
        )

    def _rows(
        self, x: Features, a: Adjacency, real: Tensor, source: Tensor | None
    ) -> tuple[Tensor, Tensor, Table | None]:
        """Features and scores of every node; if they only depend on its kind, these of every kind.

        Then nothing stands in the first two, which are there for their gradients.
        """
        layers = [(self.linear.weight, self.bias), self._scoring()]
        if isinstance(x, FeatureTable) and source is not None and _few_kinds(x, source, self.bias):
            known = has_layer_kernel(x, source, layers, len(source))
            if known and sees_by_kernels(a, self.bias):
                seen, scores = (layer_unwritten(x, layer, real, source) for layer in layers)
                with torch.no_grad():
                    lines, values = (x.lines(*layer) for layer in layers)
                return seen, scores, Table(lines, values, x.places(source, len(real)))
        seen, scores = (layers_rows(x, [layer], real, source, relu=False) for layer in layers)
        return seen, scores, None

    def _scoring(self) -> tuple[Tensor, Tensor]:
        """``W a`` and no bias: ``x (W a)`` gives the scores without ``x W``, also backward."""
        weight = self.linear.weight @ self.score.weight
        return weight, weight.new_zeros(*weight.shape[:-2], weight.size(-1))

    def reset_parameters(self) -> None:
        """Draws new weights; the bias is 0."""
        super().reset_parameters()
        nn.init.zeros_(self.bias)


def _few_kinds(x: FeatureTable, source: Tensor, bias: Tensor) -> bool:
    """Whether there are fewer lines than nodes, and so few that 32 bits count their numbers."""
    lines = 0 if x.kinds is None else len(x.kinds) * len(bias)
    return 0 < lines <= len(source) and lines * max(bias.size(1), 2) < 2**31  # 2 scores a line
