"""A stack of convolutions along coding trees, for graphs and for nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.nn.adjacency import SELF_LOOPS
from sepool.nn.blocks import dropout as dropout_layer
from sepool.nn.blocks import features, read, reset
from sepool.nn.convs import ConvOption, level_graphs
from sepool.nn.eager import Eager
from sepool.nn.pooling import ADJACENCIES, READOUTS, readout
from sepool.nn.rows import column, row_pointers
from sepool.nn.segments import pool_sum
from sepool.nn.tree_conv import TreeConv
from sepool.pyg.hierarchy import Hierarchy

TASKS = ("graph", "node")
LEVEL_READOUTS = ("none", "concat", "gated")


class SEPGraphNet(Eager, nn.Module):
    """Stack of `TreeConv` layers that predicts graphs or nodes, with or without a coding tree.

    A layer is ``x + dropout(relu(norm(TreeConv(x))))``. A perceptron takes the readout of the nodes
    and of the levels, or the rows of the nodes.
    With ``height=0`` it is the same stack without a tree: the control of an experiment.

    Args:
        in_channels: width of the node features, at least 1.
        hidden: width of the layers.
        out_channels: number of classes or targets.
        height: number of levels above the nodes, at most the height of the trees; with 0 the data
            needs none.
        conv: convolution on every level, as in `SEPG`.
        layers: number of layers.
        task: "graph", one row of results a graph; or "node", one a node.
        readout: "sum" or "mean" over the nodes of a graph.
        level_readout: readout of the levels above the nodes: "none"; "concat", the mean over the
            clusters of every level, concatenated; or "gated", the same, each level scaled by a
            learned gate in 0 to 1.
        reduce: reduction over the members of a cluster: "sum", "mean", "max" or "sym".
        pooled: pooled adjacency: "weighted" or "binary" (see `SEPooling`).
        self_loops: loops that "GCN" adds: "remaining" or "all" (see `SEPG`).
        edge_reduce: reduction of edge attributes, "sum" or "mean" (see `SEPooling`).
        norm: batch normalisation of the nodes and layer normalisation of the clusters.
        residual: add the input of a layer to its output, from the second layer on.
        jump: concatenate the output of all layers before the readout (jumping knowledge).
        dropout: dropout rate after every layer and in the perceptron.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Batch
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=3)(Data(x=torch.eye(4), edge_index=edges))
        >>> model = SEPGraphNet(4, 16, 2)
        >>> model(Batch.from_data_list([path, path, path])).shape
        torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        height: int = 3,
        *,
        conv: ConvOption = "GCN",
        layers: int = 3,
        task: str = "graph",
        readout: str = "sum",
        level_readout: str = "none",
        reduce: str = "sum",
        pooled: str = "weighted",
        self_loops: str = "remaining",
        edge_reduce: str = "sum",
        norm: bool = True,
        residual: bool = True,
        jump: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.in_channels = whole_number("in_channels", in_channels, 1)
        self.hidden = whole_number("hidden", hidden, 1)
        self.out_channels = whole_number("out_channels", out_channels, 1)
        self.height = whole_number("height", height, 0)
        self.layers = whole_number("layers", layers, 1)
        self.task = one_of("task", task, TASKS)
        self.readout = one_of("readout", readout, READOUTS)
        self.level_readout = one_of("level_readout", level_readout, LEVEL_READOUTS)
        self.pooled = one_of("pooled", pooled, ADJACENCIES)
        self.self_loops = one_of("self_loops", self_loops, SELF_LOOPS)
        self.edge_reduce = one_of("edge_reduce", edge_reduce, READOUTS)
        self.residual, self.jump = residual, jump
        widths = [in_channels] + [hidden] * (layers - 1)
        convs = [
            TreeConv(width, hidden, height, conv=conv, reduce=reduce, norm=norm) for width in widths
        ]
        self.convs = nn.ModuleList(convs)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden) if norm else nn.Identity() for _ in widths
        )
        self.drop = dropout_layer(dropout)
        levels = height if task == "graph" and level_readout != "none" else 0
        gates = levels if level_readout == "gated" else 0
        self.gates = nn.ModuleList(nn.Linear(hidden, 1) for _ in range(gates))
        width = hidden * (layers if jump else 1) + hidden * levels
        self.classifier = nn.Sequential(
            nn.Linear(width, hidden),
            nn.ReLU(),
            dropout_layer(dropout),
            nn.Linear(hidden, out_channels),
        )
        self._name = type(convs[0].convs[0]).__name__
        self._foreign = () if isinstance(conv, str) else ("convs",)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self, foreign=self._foreign)

    def forward(self, data: Data, levels: Hierarchy | None = None) -> Tensor:
        """Results of every graph or every node.

        Args:
            data: the graph or batch.
            levels: its hierarchy, `sepool.hierarchy` of ``data``; read where it is left out. Worth
                keeping where one graph is used in every step.
        """
        if self.height:
            x, levels = read(data, levels, self.in_channels, self.height, self.height)
        else:
            x, levels = features(data, self.in_channels), None
        options = {name: getattr(self, name) for name in ("pooled", "self_loops", "edge_reduce")}
        graphs = level_graphs(data, levels, self.height, **options)
        outputs: list[Tensor] = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            out, clusters = conv(x, levels, graphs, return_clusters=True)
            out = self.drop(norm(out).relu())
            x = x + out if self.residual and outputs else out
            outputs.append(x)
        if self.jump:
            x = torch.cat(outputs, -1)
        if self.task == "graph":
            x = torch.cat([self._of_nodes(x, data, levels), *self._of_levels(clusters, levels)], -1)
        result: Tensor = self.classifier(x)
        return result

    def _of_nodes(self, x: Tensor, data: Data, levels: Hierarchy | None) -> Tensor:
        """Readout of the nodes; without a hierarchy by the vector ``batch``."""
        if levels is not None:
            return readout(x, levels, 0, self.readout)
        batch = data.get("batch", None)
        if batch is None:
            batch, num_graphs = x.new_zeros(x.size(0), dtype=torch.long), 1
        else:
            num_graphs = data.num_graphs
        ptr = row_pointers(batch, num_graphs)
        total = pool_sum(x, ptr, batch)
        return total / column(ptr.diff().clamp(min=1), x) if self.readout == "mean" else total

    def _of_levels(self, clusters: list[Tensor], levels: Hierarchy | None) -> list[Tensor]:
        """Readouts of the levels above the nodes, with their gates."""
        if levels is None or self.level_readout == "none":
            return []
        parts = [readout(state.relu(), levels, i, "mean") for i, state in enumerate(clusters, 1)]
        if not self.gates:
            return parts
        return [gate(part).sigmoid() * part for gate, part in zip(self.gates, parts, strict=True)]

    def __repr__(self) -> str:
        return (
            f"SEPGraphNet({self.in_channels}, {self.hidden}, {self.out_channels}, "
            f"height={self.height}, conv={self._name}, layers={self.layers}, task={self.task!r})"
        )
