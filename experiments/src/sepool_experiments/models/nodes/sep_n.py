"""SEP-N: node classification by pooling and unpooling along a coding tree."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.pyg.hierarchy import hierarchy, normal_tensors
from sepool_experiments.layers.adjacency import Adjacency, pooled_adjacency
from sepool_experiments.layers.conv_base import AggregatingConv, Conv
from sepool_experiments.layers.convs import CONVS, GCN, propagate_with_loops
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.norm import BatchNorm
from sepool_experiments.layers.pooling import inverse_root_sizes, members, pool
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import unpool
from sepool_experiments.models.nodes.model import Sparse, sparse_linear

DENSE = 0.03  # share of nonzero features from which on a dense matrix product is faster


class Dense(nn.Module):
    """``dropout(relu(x W + b))``, the layer after SEP and SEP-U.

    Args:
        width: width of input and output.
        dropout: dropout rate.
        norm: batch normalisation and a second ReLU after the first (the released code).
        salt: distinguishes the layers of dropout of a model.
        replicas: number of replicas side by side; None for one.
    """

    def __init__(
        self, width: int, dropout: float, norm: bool, salt: int, replicas: int | None
    ) -> None:
        super().__init__()
        self.linear = Linear(width, width, replicas=replicas)
        self.norm = BatchNorm(width, replicas) if norm else None
        self.drop = Dropout(dropout, salt, "pool_dropout")

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to every row."""
        x = self.linear(x).relu()
        if self.norm is not None:
            x = self.norm(x).relu()
        out: Tensor = self.drop(x)
        return out


@dataclass
class SparseBatch(ReplicaBatch):
    """A graph with the nonzero entries of its features."""

    sparse: Sparse = field(kw_only=True)


class SEPN(nn.Module):
    """Wu et al., "Structural entropy guided graph hierarchical pooling", ICML 2022, Section 3.4.

    Encoder block ``i`` is a convolution on level ``i``, SEP to level ``i + 1`` and a linear layer.
    Its decoder block is a convolution on level ``i + 1``, SEP-U back to level ``i``, a linear layer
    and a skip connection from the encoder's convolution on level ``i``. A last convolution on the
    nodes predicts. ReLU and dropout follow every layer but the last.

    Replicas share the graph, their features are side by side, ``(N, R, width)``. The first layer
    ``S (X W)`` multiplies the nonzero features alone if they are few, as in a bag of words.

    Args:
        in_channels: width of the node features.
        hidden: width of the blocks.
        out_channels: number of classes.
        blocks: number of poolings, 1 to 5 in the paper.
        dropout: dropout rate after every convolution but the last.
        pool_dropout: dropout rate after the linear layers that follow SEP and SEP-U.
        conv: key of `CONVS`.
        pooled: pooled adjacency, "weighted" (the paper) or "binary" (the released code).
        reduce: reduction of SEP, "sum" (the paper), "mean", "max" or "sym"; with "sym" SEP-U also
            divides by the root of the cluster's size.
        smooth: number of propagations ``D^-1/2 (A + I) D^-1/2`` after SEP-U, which make the members
            of a cluster differ.
        skip: skip connection, "concat" (the released code), "add" or "none".
        input_link: append the input features before the last convolution (the released code, on
            CiteSeer and PubMed).
        norm: batch normalisation after the linear layers (the released code).
        input_dropout: dropout rate of the features.
        propagate: number of steps of personalised PageRank on the predictions (APPNP).
        teleport: teleport probability of these steps.
        light: no weights between the first and the last convolution: convolutions become
            propagations and linear layers are omitted.
        replicas: number of replicas; None for a single model.

    Attributes:
        decayed: parameters with weight decay in table 3; see `NodeModel`.
    """

    decayed = ("convs.0",)

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        blocks: int = 2,
        *,
        dropout: float = 0.0,
        pool_dropout: float = 0.0,
        conv: str = "GCN",
        pooled: str = "weighted",
        reduce: str = "sum",
        smooth: int = 0,
        skip: str = "concat",
        input_link: bool = False,
        norm: bool = False,
        input_dropout: float = 0.0,
        propagate: int = 0,
        teleport: float = 0.1,
        light: bool = False,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        self.blocks, self.replicas = blocks, replicas
        self.binary, self.reduce, self.skip = pooled == "binary", reduce, skip
        self.input_link, self.smooth = input_link, smooth
        self.propagate, self.teleport, self.light = propagate, teleport, light
        joined = hidden
        if skip == "concat":  # a light model has no layers that narrow its skips
            joined *= blocks + 1 if light else 2
        widths = [in_channels]
        if not light:
            widths += [hidden] * blocks + [joined] * (blocks - 1)
        self.convs = nn.ModuleList(CONVS[conv](width, hidden, replicas) for width in widths)
        last_width = joined + (in_channels if input_link else 0)
        self.last: Conv = CONVS[conv](last_width, out_channels, replicas)
        self.input_drop = Dropout(input_dropout, 0, "input_dropout") if input_dropout else None
        self.drops = nn.ModuleList(Dropout(dropout, 1 + i) for i in range(len(widths)))
        self.denses = nn.ModuleList(
            Dense(hidden, pool_dropout, norm, 1 + 2 * blocks + i, replicas)
            for i in range(0 if light else 2 * blocks)
        )

    @normal_tensors()
    def prepare(self, data: Data) -> ReplicaBatch:
        """Return the batch of a graph with a tree, with everything that depends on no weights."""
        x, levels = data.x, hierarchy(data)
        if levels.height < self.blocks:
            raise ValueError(
                f"the model pools {self.blocks} times, the tree has height {levels.height}; "
                f"expected AddCodingTree(height={self.blocks + 1})"
            )
        nodes = Adjacency.from_edges(data.edge_index, None, len(x), levels.edge_layout)
        pooled_levels = range(1, self.blocks + 1)
        graphs = [nodes, *(pooled_adjacency(levels, i, self.binary) for i in pooled_levels)]
        operators = {level: self.last.prepare(graph) for level, graph in enumerate(graphs)}
        # Operators of smoothing have negative keys: any convolution may be combined with it.
        operators.update({~level: GCN.prepare(graphs[level]) for level in self._smoothed_levels()})
        inputs, first = x if self.input_link else None, self.convs[0]
        if isinstance(first, GCN) and float((x != 0).float().mean()) < DENSE:
            args = x, False, levels, operators, inputs
            return SparseBatch(*args, sparse=Sparse.of(x))
        if isinstance(first, AggregatingConv) and self.input_drop is None:
            return ReplicaBatch(first.aggregate(x, operators[0]), True, levels, operators, inputs)
        return ReplicaBatch(x, False, levels, operators, inputs)

    def _smoothed_levels(self) -> set[int]:
        """Return the levels with propagations without weights."""
        levels = {0} if self.propagate else set()
        levels.update(range(self.blocks) if self.smooth else ())
        levels.update(range(1, self.blocks + 1) if self.light else ())
        return levels

    def forward(self, batch: ReplicaBatch) -> Tensor:
        """Return the logits of every node: ``(N, classes)``, with replicas ``(N, R, classes)``."""
        inputs, x = batch.input_sums, batch.x
        assert isinstance(x, Tensor)
        if self.replicas is not None:  # shared by all
            x, inputs = x.unsqueeze(1), None if inputs is None else inputs.unsqueeze(1)
        skips: list[Tensor] = []
        for i in range(self.blocks):
            skips.append(self._convolve(i, x, batch, i))
            x = self._dense(i, pool(skips[-1], batch.levels, i + 1, self.reduce))
        for i in range(self.blocks, 2 * self.blocks):
            level = 2 * self.blocks - i
            x = self._unpool(self._convolve(i, x, batch, level), batch, level)
            x = self._join(self._dense(i, x), skips.pop())
        return self._smooth_predictions(self._predict(x, inputs, batch), batch)

    def _convolve(self, i: int, x: Tensor, batch: ReplicaBatch, level: int) -> Tensor:
        """Apply convolution ``i`` with ReLU and dropout, or the propagation of a light model."""
        if i and self.light:
            return propagate_with_loops(x, batch.operators[~level])
        x = self.convs[i](x, batch.operators[level]) if i else self._first_conv(x, batch)
        out: Tensor = self.drops[i](x.relu())
        return out

    def _first_conv(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """Apply the first convolution; its aggregation may be precomputed."""
        conv, operator = self.convs[0], batch.operators[0]
        if isinstance(batch, SparseBatch) and isinstance(conv, GCN):
            product = sparse_linear(conv.linear, batch.sparse, self.input_drop)
            return conv.linear.shift(conv.aggregate(product, operator))
        if self.input_drop is not None and self.training:
            if self.replicas is not None:  # every replica drops its own
                x = x.expand(-1, self.replicas, -1).contiguous()
            x = self.input_drop(x)
        if batch.aggregated and isinstance(conv, AggregatingConv):
            return conv.update(x)
        out: Tensor = conv(x, operator)
        return out

    def _dense(self, i: int, x: Tensor) -> Tensor:
        return x if self.light else self.denses[i](x)

    def _unpool(self, x: Tensor, batch: ReplicaBatch, level: int) -> Tensor:
        """Apply SEP-U and smoothing."""
        if self.reduce == "sym":
            x = x * inverse_root_sizes(batch.levels, level, x)
        x = unpool(x, *members(batch.levels, level))
        for _ in range(self.smooth):
            x = propagate_with_loops(x, batch.operators[~(level - 1)])
        return x

    def _join(self, x: Tensor, skip: Tensor) -> Tensor:
        if self.skip == "concat":
            return torch.cat([x, skip], -1)
        return x + skip if self.skip == "add" else x

    def _predict(self, x: Tensor, inputs: Tensor | None, batch: ReplicaBatch) -> Tensor:
        """Apply the last convolution, to the input features as well if they are linked."""
        operator = batch.operators[0]
        if inputs is not None and isinstance(self.last, GCN):  # does not copy shared inputs
            linear = self.last.linear
            product = linear.product_of([x, inputs])
            return linear.shift(self.last.aggregate(product, operator))
        if inputs is not None:
            x = torch.cat([x, inputs.expand(*x.shape[:-1], -1)], -1)
        out: Tensor = self.last(x, operator)
        return out

    def _smooth_predictions(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """Propagate the predictions by personalised PageRank."""
        start = x
        for _ in range(self.propagate):
            x = torch.lerp(propagate_with_loops(x, batch.operators[~0]), start, self.teleport)
        return x
