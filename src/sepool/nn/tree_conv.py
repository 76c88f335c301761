"""Message passing on a graph together with its coding tree."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sepool.arguments import one_of, whole_number
from sepool.nn.adjacency import SELF_LOOPS
from sepool.nn.blocks import check_rows, reset
from sepool.nn.convs import ConvOption, LevelGraph, level_graphs, make_conv, run_conv
from sepool.nn.eager import Eager
from sepool.nn.pooling import ADJACENCIES, READOUTS, REDUCTIONS, members, reduce_to
from sepool.nn.segments import unpool
from sepool.pyg.hierarchy import Hierarchy

SCALE = 0.1  # of the states of clusters, at first


class TreeConv(Eager, nn.Module):
    r"""Convolution on the nodes and on all levels of their coding tree; no node is dropped.

    One V-cycle. On the way up every level has a convolution, over the edges of the graph and over
    the pooled edges :math:`\mathbf{A}_l = \mathbf{S}_l \mathbf{A}_{l-1} \mathbf{S}_l^{\top}`; on
    the way down the state of a cluster is added to that of its members, scaled by a weight a
    channel that starts at 0.1, so that the layer starts close to the bare convolution:

    .. math::
        \mathbf{H}_0 = \mathrm{conv}_0(\mathbf{X}, \mathbf{A}), \qquad
        \mathbf{H}_1 = \mathrm{norm}(\mathrm{conv}_1(\mathbf{S}_1 \mathbf{X}, \mathbf{A}_1))

    .. math::
        \mathbf{H}_l = \mathrm{norm}(\mathrm{conv}_l(
            \mathbf{S}_l \, \sigma(\mathbf{H}_{l-1}), \mathbf{A}_l)), \qquad
        \mathbf{H}_{l-1} \leftarrow
            \mathbf{H}_{l-1} + \mathbf{S}_l^{\top} (\mathbf{s}_l \odot \mathbf{H}_l)

    The result is :math:`\mathbf{H}_0`. Any two nodes of a graph are at most ``2 * height`` steps
    apart, at O(n + m) cost. Relatives with other hierarchies: HGNet (Rampasek and Wolf,
    "Hierarchical graph neural nets can capture long-range interactions", MLSP 2021) and
    hierarchical support graphs (Vonessen et al., 2024).

    Args:
        in_channels: width of the input.
        out_channels: width of the output and of the clusters.
        height: number of levels above the nodes, at most the height of the trees; 0 leaves the
            bare convolution.
        conv: convolution on every level, as in `SEPG`.
        reduce: reduction over the members of a cluster: "sum", "mean", "max" or "sym" (see
            `SEPooling`).
        pooled: pooled adjacency: "weighted" or "binary" (see `SEPooling`).
        self_loops: loops that "GCN" adds on every level: "remaining" or "all" (see `SEPG`).
        edge_reduce: reduction of edge attributes, "sum" or "mean" (see `SEPooling`).
        norm: layer normalisation of the states of clusters.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=2)(Data(x=torch.eye(4), edge_index=edges))
        >>> conv = TreeConv(4, 8, height=2)
        >>> conv(path.x, sepool.hierarchy(path), path.edge_index).shape
        torch.Size([4, 8])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        height: int = 3,
        *,
        conv: ConvOption = "GCN",
        reduce: str = "sum",
        pooled: str = "weighted",
        self_loops: str = "remaining",
        edge_reduce: str = "sum",
        norm: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels = whole_number("in_channels", in_channels, 1)
        self.out_channels = whole_number("out_channels", out_channels, 1)
        self.height = whole_number("height", height, 0)
        self.reduce = one_of("reduce", reduce, REDUCTIONS)
        self.pooled = one_of("pooled", pooled, ADJACENCIES)
        self.self_loops = one_of("self_loops", self_loops, SELF_LOOPS)
        self.edge_reduce = one_of("edge_reduce", edge_reduce, READOUTS)
        widths = ([in_channels] * 2 + [out_channels] * height)[: height + 1]
        self.convs = nn.ModuleList(
            make_conv(conv, width, out_channels, level=i) for i, width in enumerate(widths)
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(out_channels) if norm else nn.Identity() for _ in range(height)
        )
        self.scales = nn.ParameterList(torch.empty(out_channels) for _ in range(height))
        self._foreign = () if isinstance(conv, str) else ("convs",)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        reset(self, foreign=self._foreign)
        for scale in self.scales:
            nn.init.constant_(scale, SCALE)

    def forward(
        self,
        x: Tensor,
        levels: Hierarchy | None,
        edge_index: Tensor | Sequence[LevelGraph],
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        *,
        return_clusters: bool = False,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """New features of every node.

        Args:
            x: features of the nodes.
            levels: hierarchy of the graph or batch, from `sepool.hierarchy`; not read at height 0.
            edge_index: edges between the nodes; or the graphs of all levels from `level_graphs`,
                which the layers of a stack share.
            edge_weight: weights of the edges; pooled edges keep those of the hierarchy.
            edge_attr: attributes of the edges.
            return_clusters: return the states of the clusters as well, ``(x, clusters)``.
        """
        graphs = self._graphs(x, levels, edge_index, edge_weight, edge_attr)
        nodes = run_conv(self.convs[0], x, graphs[0])
        if levels is None or not self.height:
            return (nodes, []) if return_clusters else nodes
        states = [nodes]
        for level in range(1, self.height + 1):
            below = states[-1].relu() if level > 1 else x
            pooled = reduce_to(below, levels, level, self.reduce)
            state = run_conv(self.convs[level], pooled, graphs[level])
            states.append(self.norms[level - 1](state))
        for level in range(self.height, 0, -1):
            scaled = states[level] * self.scales[level - 1].to(states[level].dtype)
            lifted = unpool(scaled, *members(levels, level))
            states[level - 1] = states[level - 1] + lifted.to(nodes.dtype)
        return (states[0], states[1:]) if return_clusters else states[0]

    def _graphs(
        self,
        x: Tensor,
        levels: Hierarchy | None,
        edges: Tensor | Sequence[LevelGraph],
        weight: Tensor | None,
        attr: Tensor | None,
    ) -> Sequence[LevelGraph]:
        """Graphs of all levels, after a check of the input."""
        check_rows(x, levels, self.in_channels, self.height)
        if not isinstance(edges, Tensor):
            if len(edges) <= self.height:
                raise ValueError(
                    f"the layer needs the graphs of the levels 0 to {self.height}, got "
                    f"{len(edges)}: level_graphs(data, levels)"
                )
            return edges
        graph = LevelGraph(edges, x.size(0), weight, attr, self_loops=self.self_loops)
        return level_graphs(
            graph,
            levels if self.height else None,
            self.height,
            pooled=self.pooled,
            edge_reduce=self.edge_reduce,
        )

    def __repr__(self) -> str:
        conv = type(self.convs[0]).__name__
        return (
            f"TreeConv({self.in_channels}, {self.out_channels}, height={self.height}, conv={conv})"
        )
