"""The hierarchy on a PyG ``Data`` object, or on a batch; see `sepool.pyg.format` for its layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sepool.extras import needs
from sepool.pyg.edge_hash import HASH_MASK, EdgeHash
from sepool.pyg.format import (
    DIRECTED,
    SORTED,
    SYMMETRIC,
    Headers,
    read_headers,
    repeat_each,
    unpack_blocks,
)

with needs("torch", "sepool.pyg.hierarchy"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Data

__all__ = [
    "DIRECTED",
    "SORTED",
    "SYMMETRIC",
    "Hierarchy",
    "NoTreeError",
    "hierarchy",
    "normal_tensors",
    "repeat_each",
]

EDGE_WEIGHT = "edge_weight"  # the weights of A: the attribute that models read and that is pooled
SUM_TOLERANCE = 1e-4  # relative, between two sums of weights in single precision
ZERO_TOLERANCE = 1e-5  # relative, of a sum that is zero but for rounding


class NoTreeError(AttributeError):
    """Raised when the hierarchy of data without a coding tree is read."""


@torch.compiler.disable  # type: ignore[untyped-decorator]
def hierarchy(data: Data, attr: str = "tree") -> Hierarchy:
    """Return the hierarchy that `sepool.AddCodingTree` added to a ``Data``, or to all of a batch.

    It reads tensors on the host, so that `torch.compile` runs it between two graphs; for
    ``fullgraph=True`` read it outside: ``model(batch, sepool.hierarchy(batch))``.

    Args:
        data: the graph or batch.
        attr: the attribute with the tree, as in `sepool.AddCodingTree`.

    Raises:
        NoTreeError: the data has no tree.
        ValueError: the trees are of different heights or of other graphs, or edges had weights when
            the trees were added and have none now.

    Example:
        >>> from torch_geometric.data import Batch
        >>> import sepool
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(2)(Data(edge_index=edges, num_nodes=4))
        >>> levels = hierarchy(Batch.from_data_list([path, path]))
        >>> levels.assignment(1)
        tensor([0, 0, 1, 1, 2, 2, 3, 3])
        >>> levels.batch(1)
        tensor([0, 0, 1, 1])
    """
    if not isinstance(data, Data):
        raise TypeError(f"expected a PyG Data or a batch of them, got {type(data).__name__}")
    if attr not in data:
        raise NoTreeError(
            "the data has no coding tree; add one with "
            "`data = sepool.AddCodingTree(height)(data)`, or pass AddCodingTree(height) to the "
            "dataset as pre_transform"
        )
    tree = data[attr]
    valid = isinstance(tree, Tensor) and tree.dtype == torch.int32 and tree.dim() == 1
    height, edges = _check_edges(data, tree) if valid and tree.numel() else (0, _UNKNOWN)
    if height < 1:
        raise ValueError(
            f"the attribute `{attr}` of the data is not what sepool.AddCodingTree adds"
        )
    recorded = getattr(data, "_slice_dict", None) or {}  # by the loader
    headers = read_headers(tree, recorded[attr][:-1] if attr in recorded else None, height)
    _check_headers(data, headers, edges)
    layout = min(int(headers.layout.min()), _layout_now(edges, headers.weight, data.num_edges))
    with normal_tensors():
        order, sizes, pooled, weights = unpack_blocks(tree, headers)
    num_graphs, num_nodes = len(headers.height), len(order)
    return Hierarchy(height, num_graphs, order, sizes, pooled, weights, layout, num_nodes)


@dataclass
class Hierarchy:
    """The levels of one graph or of a batch: 0 are the nodes, ``height`` the roots.

    Attributes:
        height: the level of the roots.
        num_graphs: the number of graphs.
        order: the nodes sorted by their cluster on level 1, or None if they are sorted already.
        sizes: the number of children of every cluster, a tensor for each of the levels 1, 2, ...
        edges: rows and columns of the pooled edges on the levels 1, 2, ..., sorted by row.
        weights: the weights of these edges.
        edge_layout: DIRECTED, SYMMETRIC or SORTED; the least of all graphs.
        num_nodes: the number of nodes of all graphs.

    Example:
        >>> import sepool
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> data = sepool.AddCodingTree(height=2)(Data(edge_index=path, num_nodes=4))
        >>> levels = hierarchy(data)
        >>> levels.num_clusters(1), levels.assignment(1)
        (2, tensor([0, 0, 1, 1]))
        >>> levels.edges[0], levels.weights[0]  # between the two clusters, and inside them
        (tensor([[0, 0, 1, 1],
                [0, 1, 0, 1]]), tensor([2., 1., 1., 2.]))
    """

    height: int
    num_graphs: int
    order: Tensor | None
    sizes: list[Tensor]
    edges: list[Tensor]
    weights: list[Tensor]
    edge_layout: int
    num_nodes: int
    _cache: dict[tuple[str, int], Tensor] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def num_clusters(self, level: int) -> int:
        """Return the number of clusters on a level, or of nodes on level 0, over all graphs."""
        rows = self.order if level == 0 else self.sizes[level - 1]
        if rows is None:
            return self.num_nodes
        return rows.size(0)  # a symbol in torch.export, which `len` would make a constant

    def ptr(self, level: int) -> Tensor:
        """Return where the children of every cluster start: in `order` on level 1."""
        return self._cached("ptr", level, lambda: _pointers(self.sizes[level - 1]))

    def assignment(self, level: int) -> Tensor:
        """Return the cluster on this level of every node one level below (``S`` of the paper)."""
        return self._cached("assignment", level, lambda: self._assignment(level))

    def batch(self, level: int) -> Tensor:
        """Return the graph of every node of this level."""
        count = self.num_clusters(level)
        return self._cached(
            "batch", level, lambda: repeat_each(self.graph_ptr(level).diff(), count)
        )

    def graph_ptr(self, level: int) -> Tensor:
        """Return where the nodes of every graph start on this level."""
        return self._cached("graph_ptr", level, lambda: self._graph_ptr(level))

    def inter_cluster_edges(self, level: int) -> Tensor:
        """Return the pooled edges of this level without self-loops."""
        edges = self.edges[level - 1]
        return self._cached("inter_cluster", level, lambda: edges[:, edges[0] != edges[1]])

    def to(self, device: torch.device | str) -> Hierarchy:
        """Return a copy on another device."""
        sizes, edges, weights = (
            [part.to(device) for part in parts] for parts in (self.sizes, self.edges, self.weights)
        )
        order = None if self.order is None else self.order.to(device)
        return replace(self, order=order, sizes=sizes, edges=edges, weights=weights)

    def _cached(self, name: str, level: int, compute: Callable[[], Tensor]) -> Tensor:
        key = (name, level)
        if torch.compiler.is_compiling():  # a hierarchy that was in use compiles as a new one
            return compute()
        if key not in self._cache:
            with normal_tensors():
                self._cache[key] = compute()
        return self._cache[key]

    def _assignment(self, level: int) -> Tensor:
        by_cluster = repeat_each(self.sizes[level - 1], self.num_clusters(level - 1))
        if level > 1 or self.order is None:
            return by_cluster
        return torch.empty_like(by_cluster).index_copy_(0, self.order, by_cluster)

    def _graph_ptr(self, level: int) -> Tensor:
        if level == self.height:
            return torch.arange(self.num_clusters(level) + 1, device=self.sizes[0].device)
        return self.ptr(level + 1)[self.graph_ptr(level + 1)]


@contextmanager
def normal_tensors() -> Iterator[None]:
    """Create normal tensors, which autograd can use later, even in `torch.inference_mode`."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        yield
        return
    with torch.inference_mode(False), torch.no_grad():
        yield


def _pointers(sizes: Tensor) -> Tensor:
    return torch.nn.functional.pad(sizes.cumsum(0), (1, 0))


# Checks of a batch


class _EdgeState(NamedTuple):
    """The edges as they are now; they may have changed since the trees were added.

    Attributes:
        ascending: they are sorted by row.
        symmetric: their weights agree in both directions, as far as one sum can tell.
        weighted: they have weights.
        hash: as in the headers; None if there are no edges.
    """

    ascending: bool
    symmetric: bool
    weighted: bool
    hash: EdgeHash | None = None


_UNKNOWN = _EdgeState(True, True, True)  # of data without edges


def _check_edges(data: Data, tree: Tensor) -> tuple[int, _EdgeState]:
    """Return the height of the first tree and the state of the edges, in one copy to the host."""
    edges, weight = data.get("edge_index"), data.get(EDGE_WEIGHT)
    values = [tree[0]]
    readable = isinstance(edges, Tensor) and edges.dim() == 2
    if readable:
        row, col = edges
        values += [(row[1:] < row[:-1]).any(), (row * col).sum() & HASH_MASK]
        values.append(edges.sum() & HASH_MASK)
    weighted = readable and isinstance(weight, Tensor) and weight.dim() == 1
    if weighted and len(weight) != edges.size(1):
        raise ValueError(
            f"edge_weight has {len(weight)} values for {edges.size(1)} edges; give all graphs of a "
            "batch edge_weight, or none"
        )
    if weighted:
        values += _asymmetry(edges, weight.detach())
    device = tree.device
    first, *rest = torch.stack([value.to(device, torch.float32) for value in values]).tolist()
    height = -int(first)
    if not readable:
        return height, _UNKNOWN
    symmetric = not weighted or abs(rest[3]) <= ZERO_TOLERANCE * rest[4]
    hashes = EdgeHash(int(rest[1]), int(rest[2]))
    return height, _EdgeState(not rest[0], symmetric, weight is not None, hashes)


def _asymmetry(edges: Tensor, weight: Tensor) -> list[Tensor]:
    """Return a sum that is 0 for symmetric weights and hardly ever else, and its upper bound."""
    position = edges.float() * 0.61803399 % 1  # a number for every node, spread evenly
    terms = weight.float() * (position[0] - position[1])
    return [terms.sum(), terms.abs().sum()]


def _check_headers(data: Data, headers: Headers, state: _EdgeState) -> None:
    low, high = headers.height.min(), headers.height.max()
    if low != high:
        raise ValueError(
            f"the batch mixes trees of height {low} and {high}; give all graphs one height"
        )
    nodes, edges = headers.nodes[:, 0].sum(), headers.edges[:, 0].sum()
    if data.num_nodes != nodes or ("edge_index" in data and data.num_edges != edges):
        raise ValueError(
            f"the tree is of another graph: it has {nodes} nodes and {edges} edges, the data has "
            f"{data.num_nodes} and {data.num_edges}; add the tree after the graph's last change"
        )
    if headers.hash is not None and state.hash is not None and headers.hash != state.hash:
        raise ValueError(
            "the tree is of another graph: edges were rewired or nodes renumbered after it was "
            "added; add the tree after the graph's last change"
        )


def _layout_now(edges: _EdgeState, weight: float, num_edges: int) -> int:
    """Return the highest layout that the edges have now; ``weight`` is their former sum."""
    if not edges.weighted and abs(num_edges - weight) > SUM_TOLERANCE * weight:
        raise ValueError(
            f"the weights of the {num_edges} edges summed to {weight:g} when the trees were added, "
            "now there are none; add the trees after the last change to edge_weight, and give all "
            "graphs of a batch edge_weight, or none"
        )
    if not edges.symmetric:
        return DIRECTED
    return SORTED if edges.ascending else SYMMETRIC
