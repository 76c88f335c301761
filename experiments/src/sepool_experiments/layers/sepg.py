"""SEP-G: graph classification with structural entropy pooling."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from sepool.arguments import one_of, whole_number
from sepool.pyg.hierarchy import Hierarchy
from sepool_experiments.layers.any_conv import make_conv
from sepool_experiments.layers.conv_base import Conv, GatheringConv
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.feature_table import Features
from sepool_experiments.layers.layers import layers_norm_pool, layers_pool, layers_rows
from sepool_experiments.layers.linear import INITS, Linear
from sepool_experiments.layers.norm import NodeNorm
from sepool_experiments.layers.ops import pool_relu, rows_at
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.sep_pooling import (
    POOLED,
    READOUTS,
    family,
    read_along,
    read_out,
    reduce_to,
)

Layers = list[tuple[Tensor, Tensor]]  # weights and biases
LAYERS = 3  # convolutions in the paper


class SEPG(nn.Module):
    """SEP-G of Wu et al., ICML 2022 (Section 3.3): blocks of a convolution and a SEP layer.

    Every block's pooled features are read out, and a perceptron of three layers (``hidden``,
    ``hidden / 2``, classes) sees all readouts side by side. ReLU throughout.

    Args:
        in_channels: the width of the node features.
        hidden: the width of the blocks.
        out_channels: the number of classes.
        height: the height of the trees.
        conv: "GCN", "GIN", "GAT", "ChebNet" or "GraphSAGE"; or a PyG convolution, given as a
            function of its two widths, for instance ``torch_geometric.nn.GATv2Conv``.
        layers: how many convolutions; three as in the paper, or as many as ``height`` if that is
            more.
        blocks: how many of them are followed by SEP: all that the height allows, as in the paper,
            or 2 as in the released code, where the last convolution is read out as it is.
        reduce: how a cluster joins its members: "sum" (the paper), "mean" or "max".
        pooled: the pooled adjacency: "weighted" (the paper) or "binary" (the released code).
        readout: "sum" (the paper) or "mean".
        input_link: whether the classifier also sees the sum of the input features (in the released
            code it does, on IMDB-BINARY, IMDB-MULTI, COLLAB and DD).
        norm: whether every convolution is followed by ReLU and batch normalisation (the released
            code, with "GIN").
        init: how linear layers start: "glorot", or "torch", as PyTorch draws them (the released
            code; but for those of GCN, GAT and ChebNet, which PyG draws as Glorot).
        dropout: the share dropped after each hidden layer of the perceptron.
        replicas: how many models to hold side by side (see `sepool_experiments.layers.Linear`); None for one. A
            batch is dealt out to them in equal parts, the first graphs to the first: all have
            equally many graphs, and equally many nodes on every level with a convolution.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        height: int = 3,
        *,
        conv: str | Callable[[int, int], nn.Module] = "GCN",
        layers: int | None = None,
        blocks: int | None = None,
        reduce: str = "sum",
        pooled: str = "weighted",
        readout: str = "sum",
        input_link: bool = False,
        norm: bool = False,
        init: str = "glorot",
        dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        whole_number("hidden", hidden, 2)
        whole_number("height", height, 1)
        layers = max(LAYERS, height) if layers is None else whole_number("layers", layers, 1)
        blocks = min(layers, height) if blocks is None else whole_number("blocks", blocks, 0)
        if blocks > min(layers, height):
            raise ValueError(
                f"blocks must be at most {layers} (layers) and {height} (height), got {blocks}"
            )
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.height, self.blocks, self.replicas = height, blocks, replicas
        self.reduce = one_of("reduce", reduce, ("sum", "mean", "max"))
        self.readout = one_of("readout", readout, READOUTS)
        self.binary = one_of("pooled", pooled, POOLED) == "binary"
        self.input_link = input_link
        widths = [in_channels] + [hidden] * layers
        self.convs = nn.ModuleList(
            make_conv(conv, a, b, replicas) for a, b in itertools.pairwise(widths)
        )
        self.norms = nn.ModuleList(NodeNorm(hidden, replicas) for _ in range(layers * norm))
        seen = hidden * layers + (in_channels if input_link else 0)
        self.first = Linear(seen, hidden, replicas=replicas)
        self.second = Linear(hidden, hidden // 2, replicas=replicas)
        self.last = Linear(hidden // 2, out_channels, replicas=replicas)
        self.drops = nn.ModuleList([Dropout(dropout, salt) for salt in (1, 2)])
        if one_of("init", init, INITS) == "torch":
            self._draw_as_torch()

    def _draw_as_torch(self) -> None:
        convs = [layer for layer in self.convs if isinstance(layer, Conv) and layer.as_torch]
        for layer in (*convs, self.first, self.second, self.last):
            for part in layer.modules():
                if isinstance(part, Linear):
                    part.init = "torch"
            layer.reset_parameters()  # type: ignore[operator]

    def reset_parameters(self) -> None:
        """Draws new weights."""
        for layer in (*self.convs, *self.norms, self.first, self.second, self.last):
            layer.reset_parameters()

    def forward(self, batch: ReplicaBatch) -> Tensor:
        """Return the logits of every graph of a batch."""
        if batch.multiplicity is not None and self.reduce != "sum":
            raise ValueError(f"rows that stand for several nodes can be summed, not {self.reduce}")

        def block(i: int, level: int, features: Features) -> Tensor:
            layers = self._layers(i, batch)
            summed = i < self.blocks and self.reduce == "sum"
            if layers and summed:
                return self._layered(i, features, batch, level, layers)
            copies = batch.node_multiplicity() if i == 0 else None
            if summed and not self.norms and self._as_replicas(i, batch):
                return self._seen_pooled(i, features, batch, level, copies)
            x = self._convolved(i, features, batch, level, layers)
            if self.norms:
                x = x if layers else x.relu()  # layers end with it
                times = batch.row_weights(level, x, copies) if batch.num_valid else copies
                x = self.norms[i](x, times)
            if copies is not None:
                return pool_relu(x, *family(batch.levels, level + 1), copies)
            return self._pooled(i, x, batch.levels, level)

        return self.classify(self.blockwise(batch.x, batch.levels, block, batch.input_sums))

    def _layered(
        self, i: int, x: Features, batch: ReplicaBatch, level: int, layers: Layers
    ) -> Tensor:
        """Block ``i`` where its layers and all that follows them are done in one go."""
        source, copies = (batch.row_index, batch.multiplicity) if i == 0 else (None, None)
        seen, real = self._gathered(i, x, batch, level), batch.num_valid[level:]
        ptr, assignment = _in_order(batch, level)
        if not self.norms:
            return layers_pool(seen, layers, real, ptr, assignment, source, copies)
        norm: Any = self.norms[i]
        like = layers[0][0].new_empty(len(assignment), 0)
        times = batch.row_weights(level, like, batch.node_multiplicity() if i == 0 else None)
        return layers_norm_pool(seen, layers, norm, times, real[0], ptr, assignment, source)

    def _seen_pooled(
        self, i: int, x: Features, batch: ReplicaBatch, level: int, copies: Tensor | None
    ) -> Tensor:
        """Block ``i`` of a convolution without layers, where it is summed in one go."""
        conv: Any = self.convs[i]
        place = batch.operators[level], batch.num_valid[level], batch.row_index if i == 0 else None
        out: Tensor = conv.pooled_of_replicas(x, *place, *_in_order(batch, level), copies)
        return out

    def _gathered(self, i: int, x: Features, batch: ReplicaBatch, level: int) -> Features:
        """What convolution ``i`` gathers; of the first one that may be known already."""
        conv: Any = self.convs[i]
        seen: Features = (
            x if i == 0 and batch.aggregated else conv.gather(x, batch.operators[level])
        )
        return seen

    def _convolved(
        self, i: int, x: Features, batch: ReplicaBatch, level: int, layers: Layers
    ) -> Tensor:
        """Convolution ``i``, or the ReLU of it."""
        conv: Any = self.convs[i]
        source = batch.row_index if i == 0 else None
        if layers:
            return layers_rows(
                self._gathered(i, x, batch, level), layers, batch.num_valid[level], source
            )
        out: Tensor
        if i == 0 and batch.aggregated:
            out = conv.combine(rows_at(x, source))
        elif self._as_replicas(i, batch):
            out = conv.of_replicas(x, batch.operators[level], batch.num_valid[level], source)
        else:
            out = conv(rows_at(x, source), batch.operators[level])
        return out

    def _as_replicas(self, i: int, batch: ReplicaBatch) -> bool:
        """Whether convolution ``i`` is all to be done, and for replicas with padding."""
        known = i == 0 and batch.aggregated
        return bool(batch.num_valid) and self.replicas is not None and not known

    def _layers(self, i: int, batch: ReplicaBatch) -> Layers:
        """Those that follow what convolution ``i`` gathers, where they can be done in one go."""
        conv = self.convs[i]
        layers = conv.layers() if isinstance(conv, GatheringConv) and batch.num_valid else []
        known = [(w, b) for w, b in layers if w.dim() == 3 and b is not None]
        return known if len(known) == len(layers) else []

    def _pooled(self, i: int, x: Tensor, levels: Hierarchy, level: int) -> Tensor:
        """What block ``i`` makes of its convolution: ReLU, and clusters of a level above."""
        if i < self.blocks:
            return reduce_to(x, levels, level + 1, self.reduce, relu=True)
        return x.relu()

    def blockwise(
        self,
        x: Features,
        levels: Hierarchy,
        block: Callable[[int, int, Any], Tensor],
        link: Tensor | None = None,
    ) -> Tensor:
        """All readouts, with block ``i`` on a level given as a function.

        Where there are more convolutions than SEP layers, the last ones stay on one level.
        """
        seen = [] if link is None else [link]
        for i in range(len(self.convs)):
            x = block(i, min(i, self.blocks), x)
            place = levels, min(i + 1, self.blocks), self.readout
            if self.replicas is None:  # whose convolutions may do anything with what they get
                seen.append(read_out(x, *place))
            else:
                x, summed = read_along(x, *place)
                seen.append(summed)
        return torch.cat(seen, 1)

    def classify(self, seen: Tensor) -> Tensor:
        """The perceptron."""
        first, second = self.drops
        logits: Tensor = self.last(second(self.second(first(self.first(seen).relu())).relu()))
        return logits

    def __repr__(self) -> str:
        replicas = "" if self.replicas is None else f", replicas={self.replicas}"
        return (
            f"SEPG({self.in_channels}, {self.hidden}, {self.out_channels}, height={self.height}, "
            f"conv={type(self.convs[0]).__name__}, blocks={self.blocks}{replicas})"
        )


def _in_order(batch: ReplicaBatch, level: int) -> tuple[Tensor, Tensor]:
    """Where the members of every cluster above a level begin, and the cluster of each."""
    ptr, assignment, order = family(batch.levels, level + 1)
    assert order is None, "nodes of replicas are in the order of their clusters"
    return ptr, assignment
