"""AddCodingTree: coding trees for PyG, one graph at a time or a whole dataset in one call."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.build import coding_trees, core_options
from sepool.extras import needs
from sepool.files.atomic import StrPath
from sepool.graph.batch import GraphBatch
from sepool.graph.edges import pointers, sorted_rows
from sepool.progress import progress_bar
from sepool.pyg.packing import Blocks, Forest, pack_blocks
from sepool.pyg.reading import (
    EDGE_WEIGHT,
    EdgeWeight,
    Graphs,
    graph_list,
    read_dataset,
    read_list,
    symmetric_graphs,
)
from sepool.pyg.tree_cache import cached_trees

with needs("torch", "sepool.pyg.transform"):
    import torch
    from torch_geometric.data import Data, InMemoryDataset
    from torch_geometric.transforms import BaseTransform

Progress = Callable[[float, str], None] | None


class AddCodingTree(BaseTransform):  # type: ignore[misc]
    r"""Adds the coding tree of a graph, and what is pooled along it, as the attribute ``tree``.

    From "Structural Entropy Guided Graph Hierarchical Pooling" (ICML 2022). The tree has the levels
    0 (the nodes) to ``height`` (the root). On every level the pooled adjacency
    :math:`\mathbf{A}' = \mathbf{S} \mathbf{A} \mathbf{S}^{\top}` is stored with it. The attribute
    is one flat tensor that any loader can join; `sepool.hierarchy` reads it.

    :math:`\mathbf{A}` is what a model sees: ``data.edge_weight``, or 1 where the data has none;
    self-loops and repeated edges are part of it. The weights that the *tree* is built with are
    chosen by ``edge_weight``, and alter :math:`\mathbf{S}` alone. The tree ignores self-loops.

    Add the tree last. Pooled weights are constants, taken when it is added: weights that are
    learned, set or changed later act on the nodes' own level alone. Nodes must not be renumbered
    afterwards, and edges neither exchanged nor rewired: only another number of them is noticed.

    Works as ``transform`` and as ``pre_transform``. PyG hands graphs over one by one;
    `apply_all` builds the trees of a whole dataset in one call, over threads.

    Args:
        height: the level of the root; a model with ``b`` blocks needs ``b`` or more.
        method: "best", "fast" or "paper"; see `sepool.coding_tree`.
        seed: orders what "best" tries; another seed may find a tree of slightly other entropy.
        num_threads: how many threads `apply_all` uses, all cores by default; the trees do not
            depend on it.
        edge_weight: the weights the tree is built with. The name of an attribute, which at least
            one of the graphs has (in those that lack it edges weigh 1); or a function from a
            ``Data`` to one weight an edge, for trees that see the features; or None for the
            structure alone. Weights must be the same in both directions and not negative.
        symmetrise: accept directed graphs and let every arc count as an undirected edge when the
            tree is built; what is pooled stays directed.
        cache: a folder that keeps the trees on disk, one file a call; see `sepool.pyg.tree_cache`.
        progress: show a bar in `apply_all`, if stderr is a terminal and rich is installed.

    Raises:
        TypeError: an option or the data is of the wrong kind.
        ValueError: a value is impossible, the graph is directed, or its size is not known.

    Example:
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = AddCodingTree(height=2)(Data(edge_index=edges, num_nodes=4))
        >>> import sepool
        >>> sepool.hierarchy(path).assignment(1)
        tensor([0, 0, 1, 1])
        >>> AddCodingTree(2, "fast")
        AddCodingTree(height=2, method='fast', seed=0, edge_weight='edge_weight', symmetrise=False)
    """

    def __init__(
        self,
        height: int = 3,
        method: str = "best",
        *,
        seed: int = 0,
        num_threads: int | None = None,
        edge_weight: EdgeWeight = EDGE_WEIGHT,
        symmetrise: bool = False,
        cache: StrPath | None = None,
        progress: bool = True,
    ) -> None:
        checked = core_options(height, method, seed, num_threads, None)
        self.height, self.method, self.seed = checked["height"], method, checked["seed"]
        if edge_weight is not None and not isinstance(edge_weight, str):
            _name_of(edge_weight)
        self.edge_weight = edge_weight
        self.num_threads, self.symmetrise = num_threads, bool(symmetrise)
        self.cache, self.progress = cache, progress

    def forward(self, data: Data) -> Data:
        """Adds the tree to ``data`` itself; calling the transform adds it to a shallow copy."""
        blocks = self._blocks(read_list([data], self.edge_weight), None)
        data.tree = torch.from_numpy(blocks.numbers).to(data.edge_index.device)
        return data

    def apply_all(self, graphs: InMemoryDataset | Iterable[Data]) -> InMemoryDataset | list[Data]:
        """The same graphs with their trees, built in one call over threads.

        Args:
            graphs: an in-memory dataset, any iterable of graphs, or what has a length and items,
                such as a `torch.utils.data.Subset`. They are left as they are.

        Returns:
            A dataset of the same class that shares the other attributes; of other input, a list.

        Example:
            >>> pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
            >>> [data.num_nodes for data in AddCodingTree(2).apply_all([pair, pair])]
            [2, 2]
        """
        if isinstance(graphs, Data):
            raise TypeError("expected a list of graphs; for one graph call the transform itself")
        if isinstance(graphs, InMemoryDataset):
            return self._apply_to_dataset(graphs)
        found = [copy.copy(data) for data in graph_list(graphs)]
        if found:
            with progress_bar("coding trees", self.progress) as progress:
                blocks = self._blocks(read_list(found, self.edge_weight), progress)
            trees = torch.split(torch.from_numpy(blocks.numbers), np.diff(blocks.ends).tolist())
            for data, tree in zip(found, trees, strict=True):
                data.tree = tree.clone().to(data.edge_index.device)
        return found

    def _apply_to_dataset(self, dataset: InMemoryDataset) -> InMemoryDataset:
        found = copy.copy(dataset) if dataset._indices is None else dataset.copy()
        with progress_bar("coding trees", self.progress) as progress:
            blocks = self._blocks(read_dataset(found, self.edge_weight), progress)
        data: Any = copy.copy(found._data)
        data.tree = torch.from_numpy(blocks.numbers).to(data.edge_index.device)
        found._data, found._data_list = data, None
        if found.slices is not None:
            found.slices = {**found.slices, "tree": torch.from_numpy(blocks.ends)}
        return found

    def _blocks(self, graphs: Graphs, progress: Progress) -> Blocks:
        def build() -> Forest:
            return self._build(graphs, progress)

        trees = (
            build() if self.cache is None else cached_trees(self.cache, graphs, self._key(), build)
        )
        return pack_blocks(trees, graphs.edges, self._symmetric(graphs))

    def _build(self, graphs: Graphs, progress: Progress) -> Forest:
        nodes, edges = pointers(graphs.nodes), graphs.edges
        rows = sorted_rows(
            nodes,
            pointers(edges.counts),
            edges.row,
            edges.col,
            graphs.tree_weight,
            both=not self.symmetrise,
            self_loops=False,
        )
        trees = coding_trees(
            GraphBatch(nodes, *rows),
            self.height,
            method=self.method,
            seed=self.seed,
            num_threads=self.num_threads,
            progress=progress,
        )
        return Forest.of(trees)

    def _symmetric(self, graphs: Graphs) -> bool | NDArray[np.bool_]:
        """Whether what is pooled is symmetric; the core has looked at what the trees are of."""
        if not self.symmetrise and graphs.tree_weight is graphs.edges.weight:
            return True
        return symmetric_graphs(graphs.nodes, graphs.edges)

    def _key(self) -> str:
        """The options that the trees depend on, next to the graphs and their weights."""
        return f"{self.height} {self.method} {self.seed} {self.symmetrise}"

    def __repr__(self) -> str:
        weight = self.edge_weight
        named = repr(weight) if weight is None or isinstance(weight, str) else _name_of(weight)
        return (
            f"{type(self).__name__}(height={self.height}, method={self.method!r}, "
            f"seed={self.seed}, edge_weight={named}, symmetrise={self.symmetrise})"
        )


def _name_of(function: Any) -> str:
    """What a function is called, the same in every run."""
    if not callable(function):
        raise TypeError(
            f"edge_weight must be None, the name of an attribute or a function, got {function!r}"
        )
    if isinstance(function, functools.partial):
        named = (f"{key}={value!r}" for key, value in function.keywords.items())
        text = ", ".join([_name_of(function.func), *map(repr, function.args), *named])
        return _steady(f"functools.partial({text})")
    name = getattr(function, "__qualname__", None)
    return _steady(f"{function.__module__}.{name}" if name else repr(function))


def _steady(text: str) -> str:
    if " at 0x" in text:
        raise TypeError(f"edge_weight must have a name that does not change, got {text}; use def")
    return text
