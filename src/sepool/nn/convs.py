"""Convolutions of the models: PyG's own, and GCN over sorted sums."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import ChebConv, GATConv, GCNConv, GINConv, MessagePassing, SAGEConv
from torch_geometric.typing import OptPairTensor, OptTensor
from torch_geometric.utils import scatter

from sepool.arguments import one_of
from sepool.nn.adjacency import SELF_LOOPS, Adjacency
from sepool.nn.pooling import ADJACENCIES, READOUTS, pool_edge_attr
from sepool.pyg.hierarchy import DIRECTED, SORTED, Hierarchy

ConvOption = str | Callable[[int, int], nn.Module]
HAS_AUTOCAST_TYPE = hasattr(torch, "get_autocast_dtype")  # from PyTorch 2.4
MESSAGE_TYPES = {"x": OptPairTensor, "edge_weight": OptTensor}  # of `propagate`, for PyG


class LevelGraph:
    """Graph between the nodes of one level of a hierarchy, as convolutions take it.

    Args:
        edge_index: edges, with messages from the first row to the second.
        num_nodes: nodes of the level.
        edge_weight: weight of every edge, or None.
        edge_attr: attributes of every edge, or None.
        edge_layout: order and symmetry of the edges, as in `sepool.pyg.hierarchy.Hierarchy`.
        self_loops: loops that GCN adds, as in `sepool.nn.adjacency.Adjacency`.
    """

    def __init__(
        self,
        edge_index: Tensor,
        num_nodes: int,
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        edge_layout: int = DIRECTED,
        self_loops: str = "remaining",
    ) -> None:
        self.edge_index, self.num_nodes = edge_index, num_nodes
        self.edge_weight, self.edge_attr = edge_weight, edge_attr
        self.edge_layout, self.self_loops = edge_layout, self_loops
        self._adjacency: Adjacency | None = None

    @classmethod
    def of_nodes(
        cls, data: Data, levels: Hierarchy | None, self_loops: str = "remaining"
    ) -> LevelGraph:
        """Graph of the nodes of a ``Data`` or a batch; without a hierarchy its edges are sorted."""
        edges, weight = data.get("edge_index", None), data.get("edge_weight", None)
        if edges is None:
            raise ValueError(
                "the data has no edge_index; models take edges as such, not as adj_t or as a matrix"
            )
        if weight is not None:  # half precision is too short for sums of weights
            weight = weight.to(torch.promote_types(data.x.dtype, torch.float32))
        attr = data.get("edge_attr", None)
        if levels is None:
            return cls(edges, data.x.size(0), weight, attr, DIRECTED, self_loops)
        return cls(edges, levels.num_clusters(0), weight, attr, levels.edge_layout, self_loops)

    def pooled(
        self, levels: Hierarchy, level: int, binary: bool = False, edge_reduce: str = "sum"
    ) -> LevelGraph:
        """Graph between the clusters of ``level``, which lies one above this graph's level."""
        edges = levels.inter_cluster_edges(level) if binary else levels.edges[level - 1]
        weight = None if binary else levels.weights[level - 1]
        attr = None
        if self.edge_attr is not None:
            attr = pool_edge_attr(
                self.edge_attr, self.edge_index, edges, levels, level, edge_reduce
            )
        layout = DIRECTED if levels.edge_layout == DIRECTED else SORTED
        clusters = levels.num_clusters(level)
        return LevelGraph(edges, clusters, weight, attr, layout, self.self_loops)

    @property
    def adjacency(self) -> Adjacency:
        """Compressed rows of the edges."""
        if self._adjacency is None:
            self._adjacency = Adjacency.from_edges(
                self.edge_index,
                self.edge_weight,
                self.num_nodes,
                self.edge_layout,
                self.self_loops,
            )
        return self._adjacency


def level_graphs(
    data: Data | LevelGraph,
    levels: Hierarchy | None,
    height: int | None = None,
    *,
    pooled: str = "weighted",
    self_loops: str = "remaining",
    edge_reduce: str = "sum",
) -> list[LevelGraph]:
    """Graphs of the levels 0 to ``height``, made once for all layers of a stack.

    Args:
        data: the graph or batch, or the graph between its nodes.
        levels: its hierarchy, from `sepool.hierarchy`; None: the nodes alone.
        height: highest level; by default that of the roots.
        pooled: "weighted" or "binary" (see `sepool.nn.SEPooling`).
        self_loops: loops that "GCN" adds: "remaining" or "all" (see `sepool.nn.SEPG`).
        edge_reduce: reduction of edge attributes, "sum" or "mean".

    Example:
        >>> import sepool
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=2)(Data(x=torch.eye(4), edge_index=edges))
        >>> [graph.num_nodes for graph in level_graphs(path, sepool.hierarchy(path))]
        [4, 2, 1]
    """
    binary = one_of("pooled", pooled, ADJACENCIES) == "binary"
    one_of("edge_reduce", edge_reduce, READOUTS)
    if isinstance(data, LevelGraph):
        graphs = [data]
    else:
        graphs = [LevelGraph.of_nodes(data, levels, one_of("self_loops", self_loops, SELF_LOOPS))]
    if levels is not None:
        for level in range(1, (levels.height if height is None else height) + 1):
            graphs.append(graphs[-1].pooled(levels, level, binary, edge_reduce))
    return graphs


class GCN(GCNConv):  # type: ignore[misc]
    """PyG's ``GCNConv``, summed in a fixed order when it is given an `Adjacency`.

    Parameters and results are those of ``GCNConv``; two runs agree bit for bit, on a GPU too.
    """

    def forward(
        self, x: Tensor, edge_index: Tensor | Adjacency, edge_weight: Tensor | None = None
    ) -> Tensor:
        """``D^-1/2 (A + I) D^-1/2 X W + b``; the narrower of input and output is propagated."""
        if not isinstance(edge_index, Adjacency):
            out: Tensor = super().forward(x, edge_index, edge_weight)
            return out
        if self.in_channels <= self.out_channels:
            out = self.lin(edge_index.smooth(x))
        else:
            out = edge_index.smooth(self.lin(x))
        return out if self.bias is None else out + self.bias.to(out.dtype)


class GIN(GINConv):  # type: ignore[misc]
    """PyG's ``GINConv`` with a perceptron of two layers, for weighted edges: ``MLP(X + A X)``."""

    propagate_type = MESSAGE_TYPES

    def __init__(self, in_channels: int, out_channels: int) -> None:
        layers = nn.Linear(in_channels, out_channels), nn.Linear(out_channels, out_channels)
        super().__init__(nn.Sequential(layers[0], nn.ReLU(), layers[1]))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """New features of every node."""
        gathered = self.propagate(edge_index, x=(x, x), edge_weight=edge_weight)
        out: Tensor = self.nn(gathered + (1 + self.eps) * x)
        return out

    def message(self, x_j: Tensor, edge_weight: Tensor | None) -> Tensor:
        """Weighted features of the neighbour."""
        return _weighted(x_j, edge_weight)


class SAGE(SAGEConv):  # type: ignore[misc]
    """PyG's ``SAGEConv``, whose mean over the neighbours is weighted by the edges."""

    propagate_type = MESSAGE_TYPES

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels, aggr="sum")

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """New features of every node."""
        if edge_weight is None:
            edge_weight = x.new_ones(edge_index.size(1))
        total = scatter(edge_weight, edge_index[1], dim_size=x.size(0)).clamp(min=1e-12)
        share = edge_weight / total[edge_index[1]]
        gathered = self.propagate(edge_index, x=(x, x), edge_weight=share)
        out: Tensor = self.lin_l(gathered) + self.lin_r(x)
        return out

    def message(self, x_j: Tensor, edge_weight: Tensor | None) -> Tensor:
        """Weighted features of the neighbour."""
        return _weighted(x_j, edge_weight)


def _weighted(x: Tensor, weight: Tensor | None) -> Tensor:
    return x if weight is None else x * weight.view(-1, 1).to(x.dtype)


def _cheb(in_channels: int, out_channels: int) -> nn.Module:
    conv: nn.Module = ChebConv(in_channels, out_channels, K=2)
    return conv


CONVS: dict[str, Callable[[int, int], nn.Module]] = {
    "GCN": GCN,
    "GIN": GIN,
    "GAT": GATConv,
    "ChebNet": _cheb,
    "GraphSAGE": SAGE,
}


def make_conv(conv: ConvOption, in_channels: int, out_channels: int, level: int = 0) -> nn.Module:
    """Convolution by name, or by a function of its two widths, for a level of the hierarchy.

    Masks of PyG's explainers belong to the edges of the nodes, so that convolutions above are
    exempt.
    """
    if isinstance(conv, nn.Module) or (not callable(conv) and not isinstance(conv, str)):
        raise TypeError(
            f"conv must be a name ({', '.join(CONVS)}) or a function of two widths, such as the "
            f"class of a PyG convolution, got {conv!r}"
        )
    if isinstance(conv, str):
        if conv not in CONVS:
            raise ValueError(
                f"conv must be one of {', '.join(CONVS)} or a PyG convolution, got {conv!r}"
            )
        conv = CONVS[conv]
    made = conv(in_channels, out_channels)
    for module in made.modules() if level else ():
        if isinstance(module, MessagePassing):
            module.explain = False
    return made


def run_conv(conv: nn.Module, x: Tensor, graph: LevelGraph) -> Tensor:
    """Apply a convolution, with edge weights and attributes where its ``forward`` takes them."""
    if isinstance(conv, GCN) and not conv.explain:
        out: Tensor = conv(x, graph.adjacency)
        return out
    accepted = inspect.signature(conv.forward).parameters
    options: dict[str, Tensor | None] = {}
    if "edge_weight" in accepted:
        weight = graph.edge_weight
        options["edge_weight"] = None if weight is None else weight.to(x.dtype)
    # PyG's attention layers without `edge_dim` refuse attributes.
    if "edge_attr" in accepted and getattr(conv, "edge_dim", 0) is not None:
        if graph.edge_attr is None and accepted["edge_attr"].default is inspect.Parameter.empty:
            raise ValueError(f"{type(conv).__name__} needs edge attributes; set `data.edge_attr`")
        options["edge_attr"] = graph.edge_attr
    out = conv(x, graph.edge_index, **options)
    device = out.device.type  # autocast leaves out the sum with a bias, which would widen the rest
    if HAS_AUTOCAST_TYPE and out.dtype == torch.float32 and torch.is_autocast_enabled(device):
        out = out.to(torch.get_autocast_dtype(device))
    return out
