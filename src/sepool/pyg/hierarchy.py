"""How the hierarchy of a graph rides on a PyG ``Data`` object, and how a batch of them is read.

One attribute, ``tree``, carries everything, so that the stock loader has only one more thing to
join. It is an int32 tensor, one block a graph:

1. a head of ``4 + 2 k`` numbers: minus the height ``k``; what is known of the edges (DIRECTED,
   SYMMETRIC or SORTED); the number of nodes, and of clusters on the levels 1 to ``k``; the
   number of edges, and of pooled edges on the levels 1 to ``k``;
2. the nodes, sorted by their cluster on level 1;
3. level by level, how many children every cluster has;
4. level by level, the pooled edges: rows, columns, and weights as the bits of a float32.

Only the first number of a head is negative: it shows where the block of a graph begins. Numbers are
local to their graph, so nothing is offset when graphs are joined.

Clusters are numbered so that the children of one are neighbours: all a layer needs of an assignment
is how many children every cluster has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.pyg.packing import DIRECTED, SORTED, SYMMETRIC, EdgeBlocks, Forest, pack_blocks
from sepool.pyg.reading import kind_now, look_at
from sepool.tree_batch import TreeBatch

with needs("torch", "sepool.pyg.hierarchy"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Data

__all__ = [
    "DIRECTED",
    "SORTED",
    "SYMMETRIC",
    "EdgeBlocks",
    "Hierarchy",
    "NoTreeError",
    "has_tree",
    "hierarchy",
    "pack",
]


class NoTreeError(AttributeError):
    """A model that pools along a tree was given data without one."""


def pack(
    trees: TreeBatch | Forest, edges: EdgeBlocks, *, symmetric: bool | NDArray[np.bool_] = True
) -> list[Tensor]:
    """The block of every graph, from the trees and the edges that are pooled.

    ``symmetric`` says that every edge is there in both directions, with one weight; for all graphs,
    or one answer a graph.
    """
    forest = trees if isinstance(trees, Forest) else Forest.of(trees)
    numbers, ends = pack_blocks(forest, edges, symmetric)
    return list(torch.split(torch.from_numpy(numbers), np.diff(ends).tolist()))


def has_tree(data: Data) -> bool:
    """Whether a ``Data`` or a batch of them carries trees."""
    return "tree" in data


def hierarchy(data: Data) -> Hierarchy:
    """The hierarchy that a ``Data``, or a batch of them, carries.

    Raises:
        NoTreeError: there is none.
        ValueError: the trees are of different heights, or belong to other graphs; or edges had
            weights when the trees were added, and have none now.

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
    if not has_tree(data):
        raise NoTreeError(
            "the data has no coding tree; add one with "
            "`data = sepool.AddCodingTree(height)(data)`, or pass AddCodingTree(height) to the "
            "dataset as pre_transform"
        )
    first, facts = look_at(data, data.tree[0])  # the first of the two copies to the host
    height = -first
    if height < 1 or data.tree.dtype != torch.int32:
        raise ValueError("the attribute `tree` of the data is not what sepool.AddCodingTree adds")
    heads, pooled = _heads(data, height)
    heights = -heads[:, 0]
    if heights.min() != heights.max():
        raise ValueError(
            f"the batch mixes trees of height {heights.min()} and {heights.max()}; "
            "give all graphs one height"
        )
    nodes, edges = heads[:, 2].sum(), heads[:, 3 + height].sum()
    if data.num_nodes != nodes or ("edge_index" in data and data.num_edges != edges):
        raise ValueError(
            f"the tree is of another graph: it has {nodes} nodes and {edges} edges, the data has "
            f"{data.num_nodes} and {data.num_edges}; add the tree after the graph's last change"
        )
    layout = min(int(heads[:, 1].min()), kind_now(facts, pooled, data.num_edges))
    with lasting():
        return _unpack(data.tree, heads, height, layout)


@contextmanager
def lasting() -> Iterator[None]:
    """What is made inside can be trained with later, even in `torch.inference_mode`."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        yield
        return
    with torch.inference_mode(False), torch.no_grad():
        yield


@dataclass
class Hierarchy:
    """The levels of one graph or of a batch: 0 are the nodes, ``height`` the roots.

    Attributes:
        height: the level of the roots.
        num_graphs: how many graphs there are.
        order: the nodes sorted by their cluster on level 1, or None where they lie so already.
        sizes: how many children every cluster has; one tensor for each of the levels 1, 2, ...
        edges: rows and columns of the pooled edges on the levels 1, 2, ..., sorted by row.
        weights: the weights of these edges.
        edge_layout: DIRECTED, SYMMETRIC or SORTED; the least that holds for every graph.
        num_nodes: how many nodes level 0 has, over all graphs.

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
    _found: dict[tuple[str, int], Tensor] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def num_clusters(self, level: int) -> int:
        """How many nodes a level has, over all graphs."""
        return self.num_nodes if level == 0 else len(self.sizes[level - 1])

    def ptr(self, level: int) -> Tensor:
        """Where the children of every cluster begin, in `order` on level 1, below it above."""
        return self._kept("ptr", level, lambda: _ptr(self.sizes[level - 1]))

    def assignment(self, level: int) -> Tensor:
        """The cluster on this level of every node of the level below (``S`` of the paper)."""
        return self._kept("assignment", level, lambda: self._find_assignment(level))

    def batch(self, level: int) -> Tensor:
        """The graph of every node of this level."""
        count = self.num_clusters(level)
        return self._kept("batch", level, lambda: repeat_each(self.graph_ptr(level).diff(), count))

    def graph_ptr(self, level: int) -> Tensor:
        """Where the nodes of every graph begin on this level."""
        return self._kept("graph", level, lambda: self._find_graph_ptr(level))

    def edges_apart(self, level: int) -> Tensor:
        """The pooled edges of this level that join two clusters: all but the loops."""
        edges = self.edges[level - 1]
        return self._kept("apart", level, lambda: edges[:, edges[0] != edges[1]])

    def to(self, device: torch.device | str) -> Hierarchy:
        """The same on another device."""
        sizes, edges, weights = (
            [part.to(device) for part in parts] for parts in (self.sizes, self.edges, self.weights)
        )
        order = None if self.order is None else self.order.to(device)
        return replace(self, order=order, sizes=sizes, edges=edges, weights=weights)

    def _kept(self, name: str, level: int, find: Callable[[], Tensor]) -> Tensor:
        """What was found once; a plain dict, because torch.compile can look into it."""
        key = (name, level)
        if key not in self._found:
            with lasting():
                self._found[key] = find()
        return self._found[key]

    def _find_assignment(self, level: int) -> Tensor:
        found = repeat_each(self.sizes[level - 1], self.num_clusters(level - 1))
        if level > 1 or self.order is None:
            return found
        return torch.empty_like(found).index_copy_(0, self.order, found)

    def _find_graph_ptr(self, level: int) -> Tensor:
        if level == self.height:
            return torch.arange(self.num_graphs + 1, device=self.sizes[0].device)
        return self.ptr(level + 1)[self.graph_ptr(level + 1)]


def repeat_each(counts: Tensor, total: int) -> Tensor:
    """0, 1, 2, ..., each as often as the counts say, which sum to a known total.

    >>> repeat_each(torch.tensor([2, 0, 1]), 3)
    tensor([0, 0, 2])
    """
    return torch.repeat_interleave(counts, output_size=total)


def _ptr(sizes: Tensor) -> Tensor:
    return torch.nn.functional.pad(sizes.cumsum(0), (1, 0))


def _heads(data: Data, height: int) -> tuple[NDArray[np.int64], float]:
    """The heads of all blocks, on the host: everything that a shape or a branch depends on.

    And the sum of all weights that were pooled.
    """
    tree = data.tree
    slices = getattr(data, "_slice_dict", None) or {}  # where the loader put the graphs
    if "tree" in slices:
        heads, pooled = _at(tree, slices["tree"][:-1], height)
        if (heads[:, 0] < 0).all() and _size_of(heads, height) == tree.numel():
            return heads, pooled
    return _at(tree, (tree < 0).nonzero().squeeze(1), height)


def _at(tree: Tensor, starts: Tensor, height: int) -> tuple[NDArray[np.int64], float]:
    places = starts.unsqueeze(1) + torch.arange(4 + 2 * height, device=starts.device)
    last = torch.nn.functional.pad(starts[1:], (0, 1), value=len(tree)) - 1
    places = torch.cat([places, last.unsqueeze(1)], 1).clamp_(max=len(tree) - 1)  # heads may vary
    numbers = tree[places.to(tree.device)].cpu().numpy()
    heads, last_numbers = numbers[:, :-1].astype(np.int64), numbers[:, -1].copy()
    weights = last_numbers.view(np.float32)[heads[:, -1] > 0]  # of the only edge of a root
    return heads, float(weights.sum(dtype=np.float64))


def _size_of(heads: NDArray[np.int64], height: int) -> int:
    counts, edges = heads[:, 2 : 3 + height], heads[:, 4 + height :]
    return int(heads.size + counts.sum() + 3 * edges.sum())


def _unpack(tree: Tensor, heads: NDArray[np.int64], height: int, layout: int) -> Hierarchy:
    """Turns blocks that lie graph by graph into one tensor a piece, and numbers clusters through.

    All pieces move in one gather: the blocks are a ragged table of graphs and pieces, which is
    transposed; what the numbers of a piece are offset by is a second such table. Both are small,
    and made on the host.
    """
    counts, edges = heads[:, 2 : 3 + height], heads[:, 4 + height :]
    head = np.full((len(heads), 1), heads.shape[1])
    lengths = np.concatenate([head, counts, np.repeat(edges, 3, axis=1)], axis=1)
    ends = lengths.ravel().cumsum().reshape(lengths.shape)
    before = counts.cumsum(axis=0) - counts
    shift = np.zeros_like(lengths)
    shift[:, 1] = before[:, 0]
    shift[:, 2 + height :: 3] = before[:, 1:]
    shift[:, 3 + height :: 3] = before[:, 1:]
    order = lengths.T.ravel()
    moved = (ends - lengths).T.ravel() - (order.cumsum() - order)
    table = torch.from_numpy(np.stack([order, moved, shift.T.ravel()])).to(tree.device)

    piece = repeat_each(table[0], tree.numel())
    here = torch.arange(tree.numel(), device=tree.device)
    packed = tree.index_select(0, table[1].index_select(0, piece).add_(here))
    numbers = table[2].index_select(0, piece).add_(packed)

    nodes, *clusters = counts.sum(axis=0).tolist()
    sums = [heads.size, nodes, *clusters]
    _, nodes_by_cluster, *sizes = torch.split(numbers[: sum(sums)], sums)
    pairs, weights, at = [], [], sum(sums)
    for count in edges.sum(axis=0).tolist():
        pairs.append(numbers[at : at + 2 * count].view(2, count))
        weights.append(packed[at + 2 * count : at + 3 * count].view(torch.float32))
        at += 3 * count
    return Hierarchy(height, len(heads), nodes_by_cluster, sizes, pairs, weights, layout, nodes)
