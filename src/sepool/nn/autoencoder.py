"""Autoencoder that shows the information a pooling layer destroys."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.nn.blocks import dense as dense_layer
from sepool.nn.blocks import read, reset
from sepool.nn.convs import ConvOption, LevelGraph, make_conv, run_conv
from sepool.nn.eager import Eager
from sepool.nn.pooling import members, reduce_to
from sepool.nn.segments import unpool
from sepool.pyg.hierarchy import Hierarchy


class SEPAutoencoder(Eager, nn.Module):
    """Reconstruction of node features from clusters (SEP, ICML 2022, Section 4.1, Appendix A.1).

    Two convolutions, SEP to the first level of the tree, SEP-U back, two convolutions and a linear
    layer: ``X' = dec(S^T S enc(X))``, trained to ``min ||X - X'||^2``. The decoder has the graph,
    but of the features only what the clusters preserve.

    Args:
        in_channels: width of the features, and of their reconstruction.
        hidden: width in between.
        layers: number of convolutions before SEP, and after SEP-U.
        conv: as in `SEPN`.
        level: level to pool to, step by step: 1 in the paper, which picks a height whose first
            level has about a quarter of the nodes. Where no height has such a first level, a
            higher level may.
        reduce: reduction over the members of a cluster: "sum" (the paper), "mean" or "max".
        dense: follow SEP and SEP-U by a linear layer with ReLU (the released code).
        norm: follow these by batch normalisation (the released code).

    Example:
        >>> import sepool, torch
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = Data(x=torch.tensor([[0.0], [1], [2], [3]]), edge_index=edges)
        >>> path = sepool.AddCodingTree(height=2)(path)
        >>> SEPAutoencoder(1)(path).shape
        torch.Size([4, 1])
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int = 32,
        layers: int = 2,
        *,
        conv: ConvOption = "GCN",
        level: int = 1,
        reduce: str = "sum",
        dense: bool = False,
        norm: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = whole_number("in_channels", in_channels, 1)
        self.hidden = whole_number("hidden", hidden, 1)
        self.layers = whole_number("layers", layers, 1)
        self.level = whole_number("level", level, 1)
        self.reduce = one_of("reduce", reduce, ("sum", "mean", "max"))
        widths = [in_channels] + [hidden] * (2 * layers - 1)
        self.convs = nn.ModuleList(make_conv(conv, width, hidden) for width in widths)
        self.denses = nn.ModuleList(
            dense_layer(hidden, norm=norm) if dense else nn.Identity() for _ in range(2)
        )
        self.last = nn.Linear(hidden, in_channels)
        self._foreign = () if isinstance(conv, str) else ("convs",)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self, foreign=self._foreign)

    def forward(self, data: Data, levels: Hierarchy | None = None) -> Tensor:
        """Reconstruction of the features of every node.

        Args:
            data: the graph or batch.
            levels: its hierarchy, `sepool.hierarchy` of ``data``; read where it is left out. Worth
                keeping where one graph is used in every step.
        """
        x, levels = read(data, levels, self.in_channels, self.level, self.level + 1)
        graph = LevelGraph.of_nodes(data, levels)
        for conv in self.convs[: self.layers]:
            x = run_conv(conv, x, graph).relu()
        for level in range(1, self.level + 1):
            x = reduce_to(x, levels, level, self.reduce)
        x = self.denses[0](x)
        for level in range(self.level, 0, -1):
            x = unpool(x, *members(levels, level))
        x = self.denses[1](x)
        for conv in self.convs[self.layers :]:
            x = run_conv(conv, x, graph).relu()
        out: Tensor = self.last(x)
        return out

    def __repr__(self) -> str:
        conv = type(self.convs[0]).__name__
        return (
            f"SEPAutoencoder({self.in_channels}, {self.hidden}, layers={self.layers}, conv={conv})"
        )
