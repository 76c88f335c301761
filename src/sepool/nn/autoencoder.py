"""The autoencoder with which the paper looks at what pooling destroys."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.nn.adjacency import Adjacency
from sepool.nn.any_conv import make_conv
from sepool.nn.conv_base import Conv, Prepared
from sepool.nn.dense import Dense
from sepool.nn.linear import Linear
from sepool.nn.ops import rows_at, unpool
from sepool.nn.prepared import PreparedBatch
from sepool.nn.sep_pooling import edges_of, family, features_of, reduce_to
from sepool.nn.sepn import run_conv
from sepool.pyg.hierarchy import hierarchy, normal_tensors


class SEPAutoencoder(nn.Module):
    """Reconstructs node features from clusters (Wu et al., ICML 2022, Section 4.1, Appendix A.1).

    Two convolutions, SEP to the first level of the tree, SEP-U back, two convolutions and a linear
    layer: ``X' = dec(S^T S enc(X))``, trained to ``min ||X - X'||^2``. The decoder sees the graph,
    but of the features only what the clusters keep.

    Args:
        in_channels: the width of the features, and of their reconstruction.
        hidden: the width in between.
        layers: how many convolutions stand before SEP, and after SEP-U.
        conv: as in `SEPN`.
        level: the level it pools to, step by step: 1 in the paper, which picks a height whose first
            level keeps about a quarter of the nodes. Where no height has such a first level, a
            higher one may.
        reduce: how a cluster joins its members: "sum" (the paper), "mean" or "max".
        dense: whether a linear layer with ReLU follows SEP and SEP-U (the released code).
        norm: whether these are followed by batch normalisation (the released code).
        replicas: how many models to hold side by side on one graph, as in `SEPN`; None for one.

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
        conv: str | Callable[[int, int], nn.Module] = "GCN",
        level: int = 1,
        reduce: str = "sum",
        dense: bool = False,
        norm: bool = False,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        whole_number("hidden", hidden, 1)
        whole_number("layers", layers, 1)
        whole_number("level", level, 1)
        self.in_channels, self.hidden, self.replicas = in_channels, hidden, replicas
        self.level = level
        self.reduce = one_of("reduce", reduce, ("sum", "mean", "max"))
        widths = [in_channels] + [hidden] * (2 * layers - 1)
        self.convs = nn.ModuleList(make_conv(conv, width, hidden, replicas) for width in widths)
        self.denses = nn.ModuleList(
            Dense(hidden, hidden, norm=norm, replicas=replicas) for _ in range(2 if dense else 0)
        )
        self.last = Linear(hidden, in_channels, replicas=replicas)

    def reset_parameters(self) -> None:
        """Draws new weights."""
        for layer in (*self.convs, *self.denses, self.last):
            layer.reset_parameters()

    def forward(self, data: Data) -> Tensor:
        """The reconstruction: ``(N, width)``, or ``(N, R, width)`` of replicas."""
        return self.forward_prepared(self.prepare(data))

    @normal_tensors()
    def prepare(self, data: Data) -> PreparedBatch:
        """What is the same in every step of training."""
        x = features_of(data, self.in_channels)
        levels = hierarchy(data)
        if levels.height < self.level:
            raise ValueError(
                f"the model pools to level {self.level}, the tree has height {levels.height}; "
                f"add a tree with AddCodingTree(height={self.level + 1})"
            )
        a = Adjacency.from_edges(*edges_of(data, x), len(x), levels.edge_layout)
        first = self.convs[0]
        graph = first.prepare(a) if isinstance(first, Conv) else Prepared(a)
        return PreparedBatch(x, False, levels, {0: graph})

    def forward_prepared(self, batch: PreparedBatch) -> Tensor:
        """The reconstruction of what `prepare` returned."""
        levels, graph = batch.levels, batch.prepared[0]
        x = rows_at(batch.x, batch.source)
        half = len(self.convs) // 2
        if self.replicas is not None:
            x = x.unsqueeze(1)
        for conv in self.convs[:half]:
            x = run_conv(conv, x, graph).relu()
        for level in range(1, self.level + 1):
            x = reduce_to(x, levels, level, self.reduce)
        x = self._dense(0, x)
        for level in range(self.level, 0, -1):
            x = unpool(x, *family(levels, level))
        x = self._dense(1, x)
        for conv in self.convs[half:]:
            x = run_conv(conv, x, graph).relu()
        out: Tensor = self.last(x)
        return out

    def _dense(self, i: int, x: Tensor) -> Tensor:
        out: Tensor = self.denses[i](x) if len(self.denses) else x
        return out

    def __repr__(self) -> str:
        conv, layers = type(self.convs[0]).__name__, len(self.convs) // 2
        replicas = "" if self.replicas is None else f", replicas={self.replicas}"
        return (
            f"SEPAutoencoder({self.in_channels}, {self.hidden}, layers={layers}, "
            f"conv={conv}{replicas})"
        )
