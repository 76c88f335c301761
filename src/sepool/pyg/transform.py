"""The transform that adds coding trees to PyG graphs, one by one or a dataset in one call."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import one_of
from sepool.build import coding_trees, core_options
from sepool.extras import needs
from sepool.files.atomic import StrPath
from sepool.graph.batch import GraphBatch
from sepool.graph.edges import sorted_rows
from sepool.progress import progress_bar
from sepool.pyg.cache import cached_trees
from sepool.pyg.format import Blocks, Forest, pack_blocks
from sepool.pyg.hierarchy import EDGE_WEIGHT
from sepool.pyg.reading import (
    EdgeWeight,
    Graphs,
    check_unused,
    graph_list,
    read_dataset,
    read_list,
    symmetric_graphs,
    tree_attribute,
    unit_weights,
)
from sepool.pyg.ties import TIES, colours_of_features
from sepool.segments import pointers

with needs("torch", "sepool.pyg.transform"):
    import torch
    from torch_geometric.data import Data, InMemoryDataset
    from torch_geometric.transforms import BaseTransform

Progress = Callable[[float, str], None] | None


class AddCodingTree(BaseTransform):  # type: ignore[misc]
    r"""Adds the coding tree of a graph, with its pooled edges, as the attribute ``tree``.

    From "Structural Entropy Guided Graph Hierarchical Pooling" (ICML 2022). The tree has the levels
    0 (the nodes) to ``height`` (the root). On every level the pooled adjacency
    :math:`\mathbf{A}' = \mathbf{S} \mathbf{A} \mathbf{S}^{\top}` is stored with it. The attribute
    is one flat tensor that any loader can concatenate; `sepool.hierarchy` reads it.

    :math:`\mathbf{A}` are the weights that a model reads: ``data.edge_weight``, or 1 where the data
    has none, with self-loops and repeated edges. The weights that the *tree* is built with are
    chosen by ``edge_weight``, and change :math:`\mathbf{S}` alone. The tree ignores self-loops.

    Add the tree last. Pooled weights are constants, taken when it is added: weights that are
    learned, set or changed later act on level 0 alone. Nodes must not be renumbered afterwards, and
    edges not be rewired: `sepool.hierarchy` compares numbers and a hash of the edges.

    Works as ``transform`` and as ``pre_transform``, which PyG calls for one graph at a time;
    `apply_all` builds the trees of a whole dataset in one call, over threads.

    Args:
        height: the level of the root; a model with ``b`` blocks needs ``b`` or more.
        method: "best", "fast" or "paper"; see `sepool.coding_tree`.
        seed: of the search of "best"; another seed may give a tree of slightly other entropy.
        num_threads: the number of threads of `apply_all`, all cores by default; the trees do not
            depend on it.
        edge_weight: the weights the tree is built with: the name of an attribute that at least one
            of the graphs has (edges of the others weigh 1); a function from a ``Data`` to one
            weight an edge, for trees that depend on features; or None for the structure alone.
            Weights must be equal in both directions and not negative.
        symmetrise: accept directed graphs and count every arc as an undirected edge when the tree
            is built; pooled edges stay directed.
        ties: "features" or "structure": the order of nodes that the structure leaves
            interchangeable. With "features" they are ordered by ``x``, ``edge_attr``,
            ``edge_weight``, self-loops and directions of edges, so that the output of a model does
            not depend on the order of the nodes, where colour refinement distinguishes them
            (Proposition 2 of the paper). With "structure" they are in the order of the data. The
            shape of a tree and its entropy are the same.
        cache: a folder for the trees, one file a call; see `sepool.pyg.cache`.
        attr: the attribute with the tree. Models read "tree"; with another name pass them
            ``sepool.hierarchy(batch, attr)``.
        progress: show a bar in `apply_all`, if stderr is a terminal and rich is installed.

    Raises:
        TypeError: an option or the data is of the wrong type.
        ValueError: a value is impossible, the graph is directed, its size is unknown, or ``attr``
            is an attribute of the data that is not a tree.

    Example:
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = AddCodingTree(height=2)(Data(edge_index=edges, num_nodes=4))
        >>> import sepool
        >>> sepool.hierarchy(path).assignment(1)
        tensor([0, 0, 1, 1])
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
        ties: str = "features",
        cache: StrPath | None = None,
        attr: str = "tree",
        progress: bool = True,
    ) -> None:
        checked = core_options(height, method, seed, num_threads, None)
        self.height, self.method, self.seed = checked["height"], method, checked["seed"]
        if edge_weight is not None and not isinstance(edge_weight, str):
            _name_of(edge_weight)
        self.edge_weight = edge_weight
        self.num_threads, self.symmetrise = num_threads, bool(symmetrise)
        self.ties = one_of("ties", ties, TIES)
        self.cache, self.progress = cache, progress
        self.attr = tree_attribute(attr)

    def forward(self, data: Data) -> Data:
        """Add the tree to ``data`` in place; calling the transform adds it to a shallow copy."""
        check_unused(data, self.attr)
        blocks = self._blocks(read_list([data], self.edge_weight, self.ties), None)
        data[self.attr] = torch.from_numpy(blocks.numbers).to(data.edge_index.device)
        return data

    def apply_all(self, graphs: InMemoryDataset | Iterable[Data]) -> InMemoryDataset | list[Data]:
        """Return the same graphs with their trees, built in one call over threads.

        Args:
            graphs: an in-memory dataset, an iterable of graphs, or anything with a length and
                items, such as a `torch.utils.data.Subset`. It is not changed. Where some graphs
                of a list have ``edge_weight``, the others get weights of 1, so that PyG can batch
                them.

        Returns:
            A dataset of the same class that shares the other attributes, or a list of graphs.

        Example:
            >>> pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
            >>> [data.num_nodes for data in AddCodingTree(2).apply_all([pair, pair])]
            [2, 2]
        """
        if isinstance(graphs, Data):
            raise TypeError("expected a list of graphs; for one graph call the transform itself")
        if isinstance(graphs, InMemoryDataset):
            return self._apply_to_dataset(graphs)
        results = [copy.copy(data) for data in graph_list(graphs)]
        for data in results:
            check_unused(data, self.attr)
        unit_weights(results)
        if results:
            with progress_bar("coding trees", self.progress) as progress:
                read = read_list(results, self.edge_weight, self.ties)
                blocks = self._blocks(read, progress)
            for data, tree in zip(results, blocks.tensors(), strict=True):
                data[self.attr] = tree.clone().to(data.edge_index.device)
        return results

    def _apply_to_dataset(self, dataset: InMemoryDataset) -> InMemoryDataset:
        result = copy.copy(dataset) if dataset._indices is None else dataset.copy()
        check_unused(result._data, self.attr)
        with progress_bar("coding trees", self.progress) as progress:
            read = read_dataset(result, self.edge_weight, self.ties)
            blocks = self._blocks(read, progress)
        data: Any = copy.copy(result._data)
        data[self.attr] = torch.from_numpy(blocks.numbers).to(data.edge_index.device)
        result._data, result._data_list = data, None
        if result.slices is not None:
            result.slices = {**result.slices, self.attr: torch.from_numpy(blocks.ptr)}
        return result

    def _blocks(self, graphs: Graphs, progress: Progress) -> Blocks:
        def build() -> Forest:
            return self._build(graphs, progress)

        if self.cache is None:
            trees = build()
        else:
            # All that the trees depend on, besides the graphs, their weights and features.
            options = {name: getattr(self, name) for name in ("height", "method", "seed")}
            options["symmetrise"] = self.symmetrise
            trees = cached_trees(self.cache, graphs, options, build)
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
        colours = None
        if graphs.features is not None:
            read = graphs.features, graphs.nodes, edges
            colours = colours_of_features(*read, rows, directed=self.symmetrise)
        trees = coding_trees(
            GraphBatch(nodes, *rows),
            self.height,
            method=self.method,
            seed=self.seed,
            colours=colours,
            num_threads=self.num_threads,
            progress=progress,
        )
        return Forest.of(trees)

    def _symmetric(self, graphs: Graphs) -> bool | NDArray[np.bool_]:
        """Test that the pooled edges are symmetric; the core checked those of the trees."""
        if not self.symmetrise and graphs.tree_weight is graphs.edges.weight:
            return True
        return symmetric_graphs(graphs.nodes, graphs.edges)

    def __repr__(self) -> str:
        weight = self.edge_weight
        named = repr(weight) if weight is None or isinstance(weight, str) else _name_of(weight)
        return (
            f"{type(self).__name__}(height={self.height}, method={self.method!r}, "
            f"seed={self.seed}, edge_weight={named}, symmetrise={self.symmetrise}, "
            f"ties={self.ties!r})"
        )


def _name_of(function: Any) -> str:
    """Return the name of a function, which must not differ between runs."""
    if not callable(function):
        raise TypeError(
            f"edge_weight must be None, the name of an attribute or a function, got {function!r}"
        )
    if isinstance(function, functools.partial):
        named = (f"{key}={value!r}" for key, value in function.keywords.items())
        text = ", ".join([_name_of(function.func), *map(repr, function.args), *named])
        return _without_address(f"functools.partial({text})")
    name = getattr(function, "__qualname__", None)
    return _without_address(f"{function.__module__}.{name}" if name else repr(function))


def _without_address(name: str) -> str:
    if " at 0x" in name:
        raise TypeError(
            f"edge_weight must have the same name in every run, got {name}; define it with def"
        )
    return name
