"""SEP-N: node classification with structural entropy pooling and unpooling."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.pyg.hierarchy import hierarchy, normal_tensors
from sepool_experiments.layers.adjacency import Adjacency, pooled_adjacency
from sepool_experiments.layers.any_conv import call_conv, make_conv
from sepool_experiments.layers.conv_base import Conv, GatheringConv, Prepared
from sepool_experiments.layers.convs import GCN, average
from sepool_experiments.layers.dense import Dense
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.ops import rows_at, unpool
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.sep_pooling import (
    POOLED,
    REDUCTIONS,
    edges_of,
    family,
    features_of,
    inverse_roots,
    reduce_to,
)

SKIPS = ("concat", "add", "none")


class SEPN(nn.Module):
    """SEP-N of Wu et al., ICML 2022 (Section 3.4): an encoder and a decoder along the coding tree.

    Encoder block ``i`` is a convolution on level ``i``, SEP to level ``i + 1`` and a linear layer.
    Its decoder block is a convolution on level ``i + 1``, SEP-U back to level ``i``, a linear
    layer, and the skip that brings in what the encoder's convolution saw on level ``i``. A last
    convolution on the nodes predicts. ReLU and dropout follow every layer but the last. Two blocks
    have the five convolutions of the paper.

    With ``replicas=R`` the model holds ``R`` models that share one graph. Features stand side by
    side, ``(N, R, width)``: every sum over neighbours or clusters reads the graph once for all, the
    first product is one matrix product, and neither graph nor input is copied. Replica ``r``
    computes what it would compute alone.

    Args:
        in_channels: the width of the node features.
        hidden: the width of the blocks.
        out_channels: the number of classes.
        blocks: how often it pools, 1 to 5 in the paper.
        height: the height of the tree, at least ``blocks``; by default one more, as in the paper.
        dropout: the share dropped after each convolution.
        pool_dropout: the share dropped after the linear layers that follow SEP and SEP-U.
        conv: "GCN" (the paper), "GIN", "GAT", "ChebNet" or "GraphSAGE"; or a PyG convolution, given
            as a function of its two widths.
        pooled: the pooled adjacency: "weighted" (the paper) or "binary" (the released code).
        reduce: how a cluster joins its members: "sum" (the paper), "mean", "max" or "sym" (see
            `SEPooling`), with which SEP-U divides by the root of their number as well.
        smooth: how often the neighbours are averaged after SEP-U, ``D^-1/2 (A + I) D^-1/2`` each
            time, so that the members of a cluster do not all stay equal.
        skip: how a skip is joined: "concat" (the released code; the paper leaves it open), "add"
            (as in g-U-Nets), or "none".
        input_link: whether the last convolution also sees the input features (the released code
            does, on CiteSeer and PubMed).
        norm: whether the linear layers are followed by batch normalisation (the released code).
        input_dropout: the share dropped of the features before the first convolution. Nothing can
            be gathered ahead then.
        propagate: how often the predictions are spread at the end, as in APPNP (Klicpera et al.,
            2019): ``Z <- (1 - teleport) S Z + teleport Z_0`` with ``S = D^-1/2 (A + I) D^-1/2`` and
            ``Z_0`` from the last convolution.
        teleport: how much of its own prediction a node keeps each time.
        light: whether the hierarchy has no weights: between the first and the last convolution,
            convolutions become averages over neighbours, ``D^-1/2 (A + I) D^-1/2 X`` on the pooled
            graphs too, and linear layers are left out. For graphs where few nodes have labels; with
            "sym" or "mean" pooling, which keep the scale of the features.
        replicas: how many models to hold side by side; None for one.

    Example:
        >>> import sepool
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=3)(Data(x=torch.eye(4), edge_index=edges))
        >>> model = SEPN(4, 16, 2, replicas=10)
        >>> model(model.prepare(path)).shape
        torch.Size([4, 10, 2])
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        blocks: int = 2,
        height: int | None = None,
        *,
        dropout: float = 0.0,
        pool_dropout: float = 0.0,
        conv: str | Callable[[int, int], nn.Module] = "GCN",
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
        whole_number("hidden", hidden, 1)
        whole_number("blocks", blocks, 1)
        height = blocks + 1 if height is None else whole_number("height", height, 1)
        if blocks > height:
            raise ValueError(f"blocks must be 1 to {height} (height), got {blocks}")
        whole_number("smooth", smooth, 0)
        whole_number("propagate", propagate, 0)
        if not 0 <= teleport <= 1:
            raise ValueError(f"teleport must be 0 to 1, got {teleport}")
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.blocks, self.height, self.replicas = blocks, height, replicas
        self.binary = one_of("pooled", pooled, POOLED) == "binary"
        self.reduce = one_of("reduce", reduce, REDUCTIONS)
        self.skip = one_of("skip", skip, SKIPS)
        self.input_link, self.smooth = input_link, smooth
        self.propagate, self.teleport, self.light = propagate, teleport, light
        joined = hidden
        if skip == "concat":  # nothing makes a light model narrow again between its skips
            joined *= blocks + 1 if light else 2
        before = [in_channels]
        if not light:
            before += [hidden] * blocks + [joined] * (blocks - 1)
        self.convs = nn.ModuleList(make_conv(conv, width, hidden, replicas) for width in before)
        seen = joined + (in_channels if input_link else 0)
        self.last = make_conv(conv, seen, out_channels, replicas)
        self.input_drop = Dropout(input_dropout, 0, "input_dropout") if input_dropout else None
        self.drops = nn.ModuleList(Dropout(dropout, 1 + i) for i in range(len(before)))
        self.denses = nn.ModuleList(
            Dense(hidden, hidden, pool_dropout, norm, salt=1 + 2 * blocks + i, replicas=replicas)
            for i in range(0 if light else 2 * blocks)
        )

    def reset_parameters(self) -> None:
        """Draws new weights."""
        for layer in (*self.convs, *self.denses, self.last):
            layer.reset_parameters()

    @normal_tensors()
    def prepare(self, data: Data, gather: bool = True) -> ReplicaBatch:
        """What depends on no weights: where one graph is used many times, call it once.

        Args:
            data: a graph or batch that `AddCodingTree` prepared.
            gather: whether the first convolution gathers now what it would gather in every step;
                pays where there are many.
        """
        x = features_of(data, self.in_channels)
        levels = hierarchy(data)
        if levels.height < self.blocks:
            raise ValueError(
                f"the model pools {self.blocks} times, the tree has height {levels.height}; "
                f"add a tree with AddCodingTree(height={self.height})"
            )
        nodes = Adjacency.from_edges(*edges_of(data, x), len(x), levels.edge_layout)
        above = range(1, self.blocks + 1)
        graphs = [nodes, *(pooled_adjacency(levels, level, self.binary) for level in above)]
        find = self.last.prepare if isinstance(self.last, Conv) else Prepared
        prepared = {level: find(graph) for level, graph in enumerate(graphs)}
        # Behind the others, so that any convolution can have them.
        prepared.update({~level: GCN.prepare(graphs[level]) for level in self._averaged()})
        link, first = x if self.input_link else None, self.convs[0]
        if gather and isinstance(first, GatheringConv) and self.input_drop is None:
            return ReplicaBatch(first.gather(x, prepared[0]), True, levels, prepared, link)
        return ReplicaBatch(x, False, levels, prepared, link)

    def _averaged(self) -> set[int]:
        """The levels on which neighbours are averaged."""
        found = {0} if self.propagate else set()
        found.update(range(self.blocks) if self.smooth else ())
        found.update(range(1, self.blocks + 1) if self.light else ())
        return found

    def forward(self, batch: ReplicaBatch) -> Tensor:
        """Return the logits of every node: ``(N, classes)``, with replicas ``(N, R, classes)``."""
        link, levels, graphs = batch.input_sums, batch.levels, batch.operators
        x = rows_at(batch.x, batch.row_index)
        if self.replicas is not None:  # side by side; here is what all of them see
            x, link = x.unsqueeze(1), None if link is None else link.unsqueeze(1)
        seen: list[Tensor] = []
        for i in range(self.blocks):
            seen.append(self._convolve(i, x, batch, i))
            x = self._dense(i, reduce_to(seen[-1], levels, i + 1, self.reduce))
        for i in range(self.blocks, 2 * self.blocks):
            level = 2 * self.blocks - i
            x = self._lift(self._convolve(i, x, batch, level), batch, level)
            x = self._join(self._dense(i, x), seen.pop())
        return self._spread(self._conclude(x, link, graphs[0]), batch)

    def _convolve(self, i: int, x: Tensor, batch: ReplicaBatch, level: int) -> Tensor:
        """A convolution with ReLU and dropout, or what a light model has in its place."""
        if i and self.light:
            return average(x, batch.operators[~level])
        x = run_conv(self.convs[i], x, batch.operators[level]) if i else self._begin(x, batch)
        dropped: Tensor = self.drops[i](x.relu())
        return dropped

    def _dense(self, i: int, x: Tensor) -> Tensor:
        return x if self.light else self.denses[i](x)

    def _begin(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """The first convolution, of which the batch may hold a part already."""
        if self.input_drop is not None and self.training:
            if self.replicas is not None:  # each drops its own
                x = x.expand(-1, self.replicas, -1).contiguous()
            x = self.input_drop(x)
        return run_conv(self.convs[0], x, batch.operators[0], gathered=batch.aggregated)

    def _lift(self, x: Tensor, batch: ReplicaBatch, level: int) -> Tensor:
        """SEP-U, and the averages that follow it."""
        if self.reduce == "sym":
            x = x * inverse_roots(batch.levels, level, x)
        x = unpool(x, *family(batch.levels, level))
        for _ in range(self.smooth):
            x = average(x, batch.operators[~(level - 1)])
        return x

    def _spread(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """The predictions, spread over the graph."""
        start = x
        for _ in range(self.propagate):
            x = torch.lerp(average(x, batch.operators[~0]), start, self.teleport)
        return x

    def _join(self, x: Tensor, seen: Tensor) -> Tensor:
        if self.skip == "concat":
            return torch.cat([x, seen], -1)
        return x + seen if self.skip == "add" else x

    def _conclude(self, x: Tensor, link: Tensor | None, graph: Prepared) -> Tensor:
        if link is None:
            return run_conv(self.last, x, graph)
        if isinstance(self.last, GCN):  # the same, but input that replicas share is not copied
            linear = self.last.linear
            return linear.shift(self.last.gather(linear.product_of([x, link]), graph))
        return run_conv(self.last, torch.cat([x, link.expand(*x.shape[:-1], -1)], -1), graph)

    def __repr__(self) -> str:
        replicas = "" if self.replicas is None else f", replicas={self.replicas}"
        return (
            f"SEPN({self.in_channels}, {self.hidden}, {self.out_channels}, blocks={self.blocks}, "
            f"conv={type(self.last).__name__}, skip={self.skip!r}{replicas})"
        )


def run_conv(conv: nn.Module, x: Tensor, graph: Prepared, gathered: bool = False) -> Tensor:
    """A convolution of this package, or one of PyG's, on a prepared graph.

    ``gathered`` says that ``x`` is what the convolution gathers.
    """
    if gathered and isinstance(conv, GatheringConv):
        return conv.combine(x)
    if isinstance(conv, Conv):
        out: Tensor = conv(x, graph)
        return out
    a = graph.adjacency
    return call_conv(conv, x, torch.stack([a.index, a.row]), a.weight)
