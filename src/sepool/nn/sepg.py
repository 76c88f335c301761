"""SEP-G: graph classification with structural entropy pooling."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.nn.adjacency import SELF_LOOPS
from sepool.nn.blocks import dropout as dropout_layer
from sepool.nn.blocks import read, reset
from sepool.nn.convs import ConvOption, LevelGraph, make_conv, run_conv
from sepool.nn.eager import Eager
from sepool.nn.pooling import ADJACENCIES, READOUTS, readout, reduce_to
from sepool.pyg.hierarchy import Hierarchy

LAYERS = 3  # convolutions in the paper


class SEPG(Eager, nn.Module):
    """SEP-G of "Structural Entropy Guided Graph Hierarchical Pooling" (ICML 2022), Section 3.3.

    Blocks of a convolution and a SEP layer. The pooled features of every block are read out, and a
    perceptron of three layers (``hidden``, ``hidden / 2``, classes) takes all readouts,
    concatenated. ReLU throughout.

    Args:
        in_channels: width of the node features.
        hidden: width of the blocks.
        out_channels: number of classes.
        height: height of the trees.
        conv: "GCN", "GIN", "GAT", "ChebNet" or "GraphSAGE"; or a PyG convolution, given as a
            function of its two widths, for instance ``torch_geometric.nn.GATv2Conv``. Edge weights
            and attributes are passed to convolutions that take them. With GCN two runs agree bit
            for bit on a GPU too.
        layers: number of convolutions; by default three as in the paper, or ``height`` if that is
            more.
        blocks: number of convolutions that SEP follows: by default all that the height allows, as
            in the paper; 2 in the released code, which reads out the last convolution as it is.
        reduce: reduction over the members of a cluster: "sum" (the paper), "mean" or "max".
        pooled: pooled adjacency: "weighted" (the paper) or "binary" (the released code).
        self_loops: loops that "GCN" adds on every level: "remaining", to nodes without a loop, as
            PyG's ``gcn_norm``, so that a pooled loop stays as it is; or "all", ``A + I`` as in
            Eq. 1 of the paper.
        edge_reduce: reduction of edge attributes, "sum" or "mean" (see `SEPooling`).
        readout: "sum" (the paper) or "mean".
        gates: scale the readout of every block by a learned gate in 0 to 1, a function of it.
        input_link: append the sum of the input features to the readouts (the released code, on
            IMDB-BINARY, IMDB-MULTI, COLLAB and DD).
        norm: follow every convolution by ReLU and batch normalisation (the released code, with
            "GIN").
        init: initialisation of linear layers: "glorot", or "torch" as PyTorch and PyG draw them
            (the released code). A convolution given as a function keeps its own.
        dropout: dropout rate after each hidden layer of the perceptron.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Batch
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=3)(Data(x=torch.eye(4), edge_index=edges))
        >>> model = SEPG(4, 16, 2)
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
        layers: int | None = None,
        blocks: int | None = None,
        reduce: str = "sum",
        pooled: str = "weighted",
        self_loops: str = "remaining",
        edge_reduce: str = "sum",
        readout: str = "sum",
        gates: bool = False,
        input_link: bool = False,
        norm: bool = False,
        init: str = "glorot",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        whole_number("in_channels", in_channels, 0)
        whole_number("hidden", hidden, 2)
        whole_number("out_channels", out_channels, 1)
        whole_number("height", height, 1)
        layers = max(LAYERS, height) if layers is None else whole_number("layers", layers, 1)
        blocks = min(layers, height) if blocks is None else whole_number("blocks", blocks, 0)
        if blocks > min(layers, height):
            raise ValueError(
                f"blocks must be at most {layers} (layers) and {height} (height), got {blocks}"
            )
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.height, self.blocks, self.input_link = height, blocks, input_link
        self.reduce = one_of("reduce", reduce, ("sum", "mean", "max"))
        self.readout = one_of("readout", readout, READOUTS)
        self.binary = one_of("pooled", pooled, ADJACENCIES) == "binary"
        self.self_loops = one_of("self_loops", self_loops, SELF_LOOPS)
        self.edge_reduce = one_of("edge_reduce", edge_reduce, READOUTS)
        widths = itertools.pairwise([in_channels] + [hidden] * layers)
        self.convs = nn.ModuleList(
            make_conv(conv, *pair, level=min(i, blocks)) for i, pair in enumerate(widths)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers * norm))
        self.gates = nn.ModuleList(nn.Linear(hidden, 1) for _ in range(layers * gates))
        self.classifier = nn.Sequential(
            nn.Linear(layers * hidden + in_channels * input_link, hidden),
            nn.ReLU(),
            dropout_layer(dropout),
            nn.Linear(hidden, hidden // 2),
            nn.ReLU(),
            dropout_layer(dropout),
            nn.Linear(hidden // 2, out_channels),
        )
        self._init, self._foreign = init, () if isinstance(conv, str) else ("convs",)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self, self._init, self._foreign)

    def forward(self, data: Data, levels: Hierarchy | None = None) -> Tensor:
        """Logits of every graph in a batch with coding trees, from `AddCodingTree`.

        Args:
            data: the graph or batch.
            levels: its hierarchy, `sepool.hierarchy` of ``data``; read where it is left out. Worth
                keeping where one graph is used in every step.
        """
        x, levels = read(data, levels, self.in_channels, self.blocks, self.blocks)
        graph, level = LevelGraph.of_nodes(data, levels, self.self_loops), 0
        readouts = [readout(x, levels, 0)] if self.input_link else []
        for i, conv in enumerate(self.convs):
            x = run_conv(conv, x, graph)
            if self.norms:
                x = self.norms[i](x.relu())
            x = x.relu()
            if i < self.blocks:
                level = i + 1
                x = reduce_to(x, levels, level, self.reduce)
                if level < len(self.convs):
                    graph = graph.pooled(levels, level, self.binary, self.edge_reduce)
            part = readout(x, levels, level, self.readout)
            readouts.append(self.gates[i](part).sigmoid() * part if self.gates else part)
        logits: Tensor = self.classifier(torch.cat(readouts, 1))
        return logits

    def __repr__(self) -> str:
        return (
            f"SEPG({self.in_channels}, {self.hidden}, {self.out_channels}, height={self.height}, "
            f"conv={type(self.convs[0]).__name__}, blocks={self.blocks})"
        )
