"""The edges of PyG data as flat arrays: of a list of graphs or of an in-memory dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.pyg.format import EdgeBlocks
from sepool.pyg.hierarchy import EDGE_WEIGHT
from sepool.pyg.ties import Features, Weights, numpy_of, read_features
from sepool.segments import Ints, pointers

with needs("torch", "sepool.pyg.reading"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Batch, Data, InMemoryDataset
    from torch_geometric.data.data import BaseData
    from torch_geometric.data.storage import N_KEYS

EdgeWeight = str | Callable[[Data], Tensor] | None


class Graphs(NamedTuple):
    """Many graphs: the number of their nodes, the edges to pool, the edge weights for the trees.

    ``features`` are read where they break ties.
    """

    nodes: Ints
    edges: EdgeBlocks
    tree_weight: Weights
    features: Features | None = None


def graph_list(graphs: Any) -> list[Any]:
    """Return the graphs of an iterable, or of anything with a length and items.

    Example:
        >>> pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> len(graph_list(torch.utils.data.Subset([pair, pair, pair], [0, 2])))
        2
    """
    if isinstance(graphs, (BaseData, Tensor, str, bytes, Mapping)):
        raise TypeError(f"expected a list of graphs, got {type(graphs).__name__}")
    if isinstance(graphs, Iterable):
        return list(graphs)
    if hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__"):
        return [graphs[i] for i in range(len(graphs))]
    raise TypeError(f"expected a list of graphs, got {type(graphs).__name__}")


def read_list(graphs: Sequence[Data], weight: EdgeWeight, ties: str = "structure") -> Graphs:
    """Return the arrays of graphs; ``weight`` and ``ties`` are options of `AddCodingTree`."""
    for i, data in enumerate(graphs):
        _check(data, i, len(graphs))
    nodes = np.array([data.num_nodes for data in graphs], np.int64)
    parts = [data.edge_index for data in graphs]
    counts = np.array([edges.size(1) for edges in parts], np.int64)
    row, col = numpy_of(parts[0] if len(parts) == 1 else torch.cat(parts, 1))

    def read(name: str) -> Weights:
        return _weights([data.get(name) for data in graphs], counts, name)

    pooled = read(EDGE_WEIGHT)
    if callable(weight):
        tree_weight = _weights(_call(weight, graphs), counts, "the result of edge_weight")
    else:
        tree_weight = _tree_weight(weight, pooled, read, counts)
    edges = EdgeBlocks(counts, row, col, pooled)
    features = None if ties == "structure" else read_features(graphs, nodes, edges, tree_weight)
    return Graphs(nodes, edges, tree_weight, features)


def read_dataset(dataset: InMemoryDataset, weight: EdgeWeight, ties: str = "structure") -> Graphs:
    """Return the arrays of a dataset, from its joined tensors where these are enough."""
    nodes = _stored_nodes(dataset)
    if nodes is None or callable(weight):
        return read_list([dataset.get(i) for i in dataset.indices()], weight, ties)
    data: Any = dataset._data
    assert dataset.slices is not None
    _check(data, 0, 1)
    counts = np.diff(dataset.slices["edge_index"].numpy())
    row, col = numpy_of(data.edge_index)

    def read(name: str) -> Weights:
        return _weights([data.get(name)], counts, name)

    pooled = read(EDGE_WEIGHT)
    tree_weight = _tree_weight(weight, pooled, read, counts)
    edges = EdgeBlocks(counts, row, col, pooled)
    features = None if ties == "structure" else read_features([data], nodes, edges, tree_weight)
    return Graphs(nodes, edges, tree_weight, features)


def symmetric_graphs(nodes: Ints, edges: EdgeBlocks) -> NDArray[np.bool_]:
    """Test for every graph that each edge is listed in both directions with equal weights."""
    start = np.repeat(pointers(nodes)[:-1], edges.counts)
    row, col, n = edges.row + start, edges.col + start, int(nodes.sum())
    forward, backward = row * n + col, col * n + row
    first, second = np.argsort(forward, kind="stable"), np.argsort(backward, kind="stable")
    differs = forward[first] != backward[second]
    if edges.weight is not None:
        differs |= edges.weight[first] != edges.weight[second]
    graph = np.searchsorted(pointers(edges.counts), np.flatnonzero(differs), side="right") - 1
    symmetric = np.ones(len(nodes), np.bool_)
    symmetric[graph] = False
    return symmetric


def tree_attribute(name: str) -> str:
    """Return the name of an attribute for trees, which PyG must concatenate as they are."""
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"attr must be the name of an attribute, got {name!r}")
    reserved = ("index", "batch", "face", "adj", "ptr")
    if any(word in name for word in reserved) or hasattr(Data, name):
        raise ValueError(
            f"attr must not be an attribute of PyG's Data, nor contain {', '.join(reserved)}, "
            f"which PyG batches in a way of its own; got {name!r}"
        )
    return name


def check_unused(data: Any, attr: str) -> None:
    """Refuse data with an attribute of this name that is not a tree."""
    value = data.get(attr) if isinstance(data, Data) else None
    if value is None:
        return
    is_tree = isinstance(value, Tensor) and value.dtype == torch.int32 and value.dim() == 1
    if not is_tree or not value.numel() or value[0] >= 0:
        raise ValueError(
            f"the data has an attribute {attr!r} that is not a coding tree; choose another name "
            f"for the tree, for instance AddCodingTree(attr='coding_{attr}')"
        )


def unit_weights(graphs: Sequence[Any]) -> None:
    """Set weights of 1 where other graphs of the list have weights."""
    if not all(isinstance(data, Data) for data in graphs):
        return  # an error of `read_list`
    weights = [data.get(EDGE_WEIGHT) for data in graphs]
    first = next((weight for weight in weights if isinstance(weight, Tensor)), None)
    for data, weight in zip(graphs, weights, strict=True):
        if first is not None and weight is None and "edge_index" in data:
            data[EDGE_WEIGHT] = first.new_ones(data.num_edges)


def _stored_nodes(dataset: InMemoryDataset) -> Ints | None:
    """Return the sizes of the graphs if the dataset stores them, else None."""
    data, slices = dataset._data, dataset.slices
    if dataset._indices is not None or slices is None or not isinstance(data, Data):
        return None
    if "edge_index" not in slices:
        return None
    if "num_nodes" in data:
        sizes = getattr(data._store, "_num_nodes", None)
        return np.array(sizes, np.int64) if isinstance(sizes, list) else None
    for key in ("x", "pos"):
        if key in slices:
            nodes: Ints = np.diff(slices[key].numpy())
            return nodes
    return None


def _check(data: Any, i: int, total: int) -> None:
    graph = f"graph {i}: " if total > 1 else ""
    if not isinstance(data, Data) or isinstance(data, Batch):
        hint = "; add the trees before the graphs are batched" if isinstance(data, Batch) else ""
        raise TypeError(f"{graph}expected a homogeneous PyG Data, got {type(data).__name__}{hint}")
    edges = data.get("edge_index")
    if not isinstance(edges, Tensor):
        raise ValueError(f"{graph}the data has no edge_index (an empty one has the shape (2, 0))")
    if edges.dim() != 2 or edges.size(0) != 2 or edges.dtype not in (torch.int32, torch.int64):
        actual = f"{edges.dtype} {tuple(edges.shape)}"
        raise ValueError(f"{graph}edge_index must be whole numbers of shape (2, m), got {actual}")
    if data._store.get("num_nodes") is None and N_KEYS.isdisjoint(data._store.keys()):
        raise ValueError(
            f"{graph}the number of nodes is unknown, since the data has neither x nor num_nodes; "
            "set `data.num_nodes`"
        )


def _tree_weight(
    name: str | None, pooled: Weights, read: Callable[[str], Weights], counts: Ints
) -> Weights:
    """Return the weights for the trees: none, those that are pooled, or another attribute."""
    if name is None or name == EDGE_WEIGHT:
        return pooled if name else None
    weight = read(name)
    if weight is None and counts.sum():
        raise ValueError(f"edge_weight={name!r}, but the data has no attribute of that name")
    return weight


def _call(weight: Callable[[Data], Tensor], graphs: Sequence[Data]) -> list[Tensor]:
    results = [weight(data) for data in graphs]
    for i, result in enumerate(results):
        if result is None:
            graph = f"graph {i}: " if len(results) > 1 else ""
            raise ValueError(
                f"{graph}the function edge_weight returned None, expected one weight an edge"
            )
    return results


def _weights(parts: Sequence[Any], counts: Ints, name: str) -> Weights:
    """Return the weights of all graphs, 1 where a graph has none; None if no graph has any."""
    if all(part is None for part in parts):
        return None
    sizes = counts if len(parts) == len(counts) else [counts.sum()]
    weights = []
    for i, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        graph = f"graph {i}: " if len(parts) > 1 else ""
        if part is None:
            weights.append(np.ones(size))
            continue
        if not isinstance(part, Tensor) or part.shape != (size,) or part.is_complex():
            actual = tuple(part.shape) if isinstance(part, Tensor) else type(part).__name__
            raise ValueError(
                f"{graph}{name} must be a tensor of shape ({size},), one weight an edge, "
                f"got {actual}"
            )
        weights.append(numpy_of(part).astype(np.float64))
    return weights[0] if len(weights) == 1 else np.concatenate(weights)
