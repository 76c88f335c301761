"""SEP-N: node classification with structural entropy pooling and unpooling."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.nn.adjacency import SELF_LOOPS
from sepool.nn.blocks import dense, read, reset
from sepool.nn.blocks import dropout as dropout_layer
from sepool.nn.convs import ConvOption, LevelGraph, make_conv, run_conv
from sepool.nn.eager import Eager
from sepool.nn.pooling import (
    ADJACENCIES,
    READOUTS,
    REDUCTIONS,
    inverse_root_sizes,
    members,
    reduce_to,
)
from sepool.nn.segments import unpool
from sepool.pyg.hierarchy import Hierarchy

SKIPS = ("concat", "add", "none")


class SEPN(Eager, nn.Module):
    """SEP-N of "Structural Entropy Guided Graph Hierarchical Pooling" (ICML 2022), Section 3.4.

    An encoder and a decoder along the coding tree. Encoder block ``i`` is a convolution on level
    ``i``, SEP to level ``i + 1`` and a linear layer. Its decoder block is a convolution on level
    ``i + 1``, SEP-U back to level ``i``, a linear layer, and a skip connection from the encoder's
    convolution on level ``i``. A last convolution on the nodes predicts. ReLU and dropout follow
    every layer but the last. Two blocks have the five convolutions of the paper.

    Args:
        in_channels: width of the node features.
        hidden: width of the blocks.
        out_channels: number of classes.
        blocks: number of poolings, 1 to 5 in the paper.
        height: height of the tree, at least ``blocks``; by default one more, as in the paper.
        dropout: dropout rate after each convolution.
        pool_dropout: dropout rate after the linear layers that follow SEP and SEP-U.
        conv: "GCN" (the paper), "GIN", "GAT", "ChebNet" or "GraphSAGE"; or a PyG convolution, given
            as a function of its two widths (see `SEPG`).
        pooled: pooled adjacency: "weighted" (the paper) or "binary" (the released code).
        self_loops: loops that "GCN" adds on every level: "remaining", to nodes without a loop, as
            PyG's ``gcn_norm``, so that a pooled loop stays as it is; or "all", ``A + I`` as in
            Eq. 1 of the paper.
        edge_reduce: reduction of edge attributes, "sum" or "mean" (see `SEPooling`).
        reduce: reduction over the members of a cluster: "sum" (the paper), "mean", "max" or "sym"
            (see `SEPooling`), with which SEP-U divides by the root of their number as well.
        smooth: number of averages over the neighbours after SEP-U, ``D^-1/2 (A + I) D^-1/2`` each,
            so that the members of a cluster do not all stay equal.
        skip: skip connection: "concat" (the released code; the paper leaves it open), "add" (as in
            g-U-Nets), or "none".
        input_link: append the input features before the last convolution (the released code, on
            CiteSeer and PubMed).
        norm: follow the linear layers by batch normalisation (the released code).
        input_dropout: dropout rate of the input features.
        propagate: number of propagations of the predictions, as in APPNP (Klicpera et al., 2019):
            ``Z <- (1 - teleport) S Z + teleport Z_0`` with ``S = D^-1/2 (A + I) D^-1/2`` and
            ``Z_0`` from the last convolution.
        teleport: share of its own prediction that a node keeps each time.
        light: hierarchy without weights: between the first and the last convolution, convolutions
            become averages over neighbours, on the pooled graphs too, and linear layers are left
            out. For graphs with few labels; with "sym" or "mean" pooling, which preserve the scale
            of the features.

    Example:
        >>> import sepool
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=3)(Data(x=torch.eye(4), edge_index=edges))
        >>> SEPN(4, 16, 2)(path).shape
        torch.Size([4, 2])
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
        conv: ConvOption = "GCN",
        pooled: str = "weighted",
        self_loops: str = "remaining",
        edge_reduce: str = "sum",
        reduce: str = "sum",
        smooth: int = 0,
        skip: str = "concat",
        input_link: bool = False,
        norm: bool = False,
        input_dropout: float = 0.0,
        propagate: int = 0,
        teleport: float = 0.1,
        light: bool = False,
    ) -> None:
        super().__init__()
        whole_number("in_channels", in_channels, 0)
        whole_number("hidden", hidden, 1)
        whole_number("out_channels", out_channels, 1)
        whole_number("blocks", blocks, 1)
        height = blocks + 1 if height is None else whole_number("height", height, 1)
        if blocks > height:
            raise ValueError(f"blocks must be 1 to {height} (height), got {blocks}")
        if not 0 <= teleport <= 1:
            raise ValueError(f"teleport must be 0 to 1, got {teleport}")
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.blocks, self.height, self.light = blocks, height, light
        self.binary = one_of("pooled", pooled, ADJACENCIES) == "binary"
        self.self_loops = one_of("self_loops", self_loops, SELF_LOOPS)
        self.edge_reduce = one_of("edge_reduce", edge_reduce, READOUTS)
        self.reduce = one_of("reduce", reduce, REDUCTIONS)
        self.skip = one_of("skip", skip, SKIPS)
        self.smooth = whole_number("smooth", smooth, 0)
        self.propagate, self.teleport = whole_number("propagate", propagate, 0), teleport
        self.input_link = input_link
        joined = hidden
        if skip == "concat":  # a light model has no layer that narrows its features between skips
            joined *= blocks + 1 if light else 2
        widths = [in_channels]
        if not light:
            widths += [hidden] * blocks + [joined] * (blocks - 1)
        self.convs = nn.ModuleList(
            make_conv(conv, width, hidden, level=self._level(i)) for i, width in enumerate(widths)
        )
        self.last = make_conv(conv, joined + in_channels * input_link, out_channels)
        self.input_drop = dropout_layer(input_dropout)
        self.drop = dropout_layer(dropout)
        self.denses = nn.ModuleList(
            dense(hidden, pool_dropout, norm) for _ in range(0 if light else 2 * blocks)
        )
        self._foreign = () if isinstance(conv, str) else ("convs", "last")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self, foreign=self._foreign)

    def forward(self, data: Data, levels: Hierarchy | None = None) -> Tensor:
        """Logits of every node of a graph or batch with coding trees, from `AddCodingTree`.

        Args:
            data: the graph or batch.
            levels: its hierarchy, `sepool.hierarchy` of ``data``; read where it is left out. Worth
                keeping where one graph is used in every step.
        """
        x, levels = read(data, levels, self.in_channels, self.blocks, self.height)
        features = x
        graphs = [LevelGraph.of_nodes(data, levels, self.self_loops)]
        for level in range(1, self.blocks + 1):
            graphs.append(graphs[-1].pooled(levels, level, self.binary, self.edge_reduce))
        x, encoded = self.input_drop(x), []
        for i in range(self.blocks):
            encoded.append(self._convolve(i, x, graphs[i]))
            x = self._dense(i, reduce_to(encoded[-1], levels, i + 1, self.reduce))
        for i in range(self.blocks, 2 * self.blocks):
            level = self._level(i)
            x = self._lift(self._convolve(i, x, graphs[level]), levels, level)
            for _ in range(self.smooth):
                x = graphs[level - 1].adjacency.smooth(x)
            x = self._join(self._dense(i, x), encoded.pop())
        if self.input_link:
            x = torch.cat([x, features], -1)
        logits = start = run_conv(self.last, x, graphs[0])
        for _ in range(self.propagate):
            logits = torch.lerp(graphs[0].adjacency.smooth(logits), start, self.teleport)
        return logits

    def _level(self, i: int) -> int:
        """Level of convolution ``i``: up through the encoder, down through the decoder."""
        return i if i < self.blocks else 2 * self.blocks - i

    def _convolve(self, i: int, x: Tensor, graph: LevelGraph) -> Tensor:
        """Convolution ``i`` with ReLU and dropout; an average in a light model."""
        if i and self.light:
            return graph.adjacency.smooth(x)
        out: Tensor = self.drop(run_conv(self.convs[i], x, graph).relu())
        return out

    def _dense(self, i: int, x: Tensor) -> Tensor:
        return x if self.light else self.denses[i](x)

    def _lift(self, x: Tensor, levels: Hierarchy, level: int) -> Tensor:
        """SEP-U to the level below."""
        if self.reduce == "sym":
            x = x * inverse_root_sizes(levels, level, x)
        return unpool(x, *members(levels, level))

    def _join(self, x: Tensor, encoded: Tensor) -> Tensor:
        if self.skip == "concat":
            return torch.cat([x, encoded], -1)
        return x + encoded if self.skip == "add" else x

    def __repr__(self) -> str:
        return (
            f"SEPN({self.in_channels}, {self.hidden}, {self.out_channels}, blocks={self.blocks}, "
            f"conv={type(self.last).__name__}, skip={self.skip!r})"
        )
