"""The edges of PyG data as flat arrays: of a list of graphs, or of a whole in-memory dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.graph.edges import pointers
from sepool.pyg.packing import DIRECTED, SORTED, SYMMETRIC, EdgeBlocks, Ints

with needs("torch", "sepool.pyg.reading"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Batch, Data, InMemoryDataset
    from torch_geometric.data.data import BaseData
    from torch_geometric.data.storage import N_KEYS

EdgeWeight = str | Callable[[Data], Tensor] | None
Weights = NDArray[np.float64] | None
EDGE_WEIGHT = "edge_weight"  # the weights of the adjacency A that a model sees, and that is pooled
UNEQUAL = 1e-4  # how far sums of single precision may lie apart
NEAR = 1e-5  # how far from 0, as a share, a sum that should be 0


class Graphs(NamedTuple):
    """Many graphs: their nodes, the edges that are pooled, the weights for the tree."""

    nodes: Ints
    edges: EdgeBlocks
    tree_weight: Weights


class EdgeFacts(NamedTuple):
    """What a batch's edges are now, which may be other than when its trees were added.

    Attributes:
        row_by_row: whether rows never fall.
        symmetric: whether weights are the same in both directions, as far as a sum can tell.
        weighted: whether there are weights.
    """

    row_by_row: bool
    symmetric: bool
    weighted: bool


def look_at(data: Data, number: Tensor) -> tuple[int, EdgeFacts]:
    """A whole number from the data's device, and what its edges are; in one copy to the host."""
    edges, weight = data.get("edge_index"), data.get(EDGE_WEIGHT)
    asked = [number]
    if isinstance(edges, Tensor) and edges.dim() == 2:
        asked.append((edges[0, 1:] < edges[0, :-1]).any())
    known = len(asked) == 2 and isinstance(weight, Tensor) and weight.dim() == 1
    if known:
        asked += _both_ways(edges, weight.detach())
    asked = [value.to(number.device, torch.float32) for value in asked]
    first, *found = torch.stack(asked).tolist()
    if not found:
        return int(first), EdgeFacts(True, True, True)  # nothing is known of the edges
    symmetric = not known or abs(found[1]) <= NEAR * found[2]
    return int(first), EdgeFacts(not found[0], symmetric, weight is not None)


def _both_ways(edges: Tensor, weight: Tensor) -> list[Tensor]:
    """A sum that is 0 for symmetric weights, and hardly ever else, and how large it could be."""
    place = edges.float() * 0.61803399 % 1  # a number for every node, spread evenly
    parts = weight.float() * (place[0] - place[1])
    return [parts.sum(), parts.abs().sum()]


def kind_now(facts: EdgeFacts, pooled: float, edges: int) -> int:
    """What the edges can be at most, for they may have got another order or other weights.

    ``pooled`` is the sum of the weights when the trees were added.
    """
    if not facts.weighted and abs(edges - pooled) > UNEQUAL * pooled:
        raise ValueError(
            f"the weights of the {edges} edges summed to {pooled:g} when the trees were added, now "
            "there are none; add the trees after the last change to edge_weight"
        )
    if not facts.symmetric:
        return DIRECTED  # which is right for any weights
    return SORTED if facts.row_by_row else SYMMETRIC


def graph_list(graphs: Any) -> list[Any]:
    """The graphs of an iterable, or of anything that has a length and items, as subsets have.

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


def read_list(graphs: Sequence[Data], weight: EdgeWeight) -> Graphs:
    """The arrays of some graphs; ``weight`` is what `AddCodingTree` calls ``edge_weight``.

    Example:
        >>> pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> read_list([pair, pair], "edge_weight").edges.counts
        array([2, 2])
    """
    for i, data in enumerate(graphs):
        _check(data, i, len(graphs))
    nodes = np.array([data.num_nodes for data in graphs], np.int64)
    lists = [data.edge_index for data in graphs]
    counts = np.array([edges.size(1) for edges in lists], np.int64)
    row, col = _numpy(lists[0] if len(lists) == 1 else torch.cat(lists, 1))
    pooled = _weights([data.get(EDGE_WEIGHT) for data in graphs], counts, EDGE_WEIGHT)
    if weight is None or weight == EDGE_WEIGHT:
        tree_weight = pooled if weight else None
    elif isinstance(weight, str):
        tree_weight = _named_weights([data.get(weight) for data in graphs], counts, weight)
    else:
        tree_weight = _weights(_given_by(weight, graphs), counts, "what edge_weight gives")
    return Graphs(nodes, EdgeBlocks(counts, row, col, pooled), tree_weight)


def read_dataset(dataset: InMemoryDataset, weight: EdgeWeight) -> Graphs:
    """The arrays of all graphs of a dataset, without making the graphs where that can be done."""
    nodes = _stored_nodes(dataset)
    if nodes is None or callable(weight):
        return read_list([dataset.get(i) for i in dataset.indices()], weight)
    data: Any = dataset._data
    assert dataset.slices is not None
    _check(data, 0, 1)
    counts = np.diff(dataset.slices["edge_index"].numpy())
    row, col = _numpy(data.edge_index)
    pooled = _weights([data.get(EDGE_WEIGHT)], counts, EDGE_WEIGHT)
    tree_weight = pooled if weight == EDGE_WEIGHT else None
    if weight is not None and weight != EDGE_WEIGHT:
        tree_weight = _named_weights([data.get(weight)], counts, weight)
    return Graphs(nodes, EdgeBlocks(counts, row, col, pooled), tree_weight)


def symmetric_graphs(nodes: Ints, edges: EdgeBlocks) -> NDArray[np.bool_]:
    """Which graphs have for every edge one back, of the same weight.

    Example:
        >>> arc = EdgeBlocks(np.array([1, 2]), np.array([0, 0, 1]), np.array([1, 1, 0]))
        >>> symmetric_graphs(np.array([2, 2]), arc)
        array([False,  True])
    """
    start = np.repeat(pointers(nodes)[:-1], edges.counts)
    row, col, n = edges.row + start, edges.col + start, int(nodes.sum())
    there, back = row * n + col, col * n + row
    first, second = np.argsort(there, kind="stable"), np.argsort(back, kind="stable")
    differs = there[first] != back[second]
    if edges.weight is not None:
        differs |= edges.weight[first] != edges.weight[second]
    graph = np.searchsorted(pointers(edges.counts), np.flatnonzero(differs), side="right") - 1
    symmetric = np.ones(len(nodes), np.bool_)
    symmetric[graph] = False
    return symmetric


def _stored_nodes(dataset: InMemoryDataset) -> Ints | None:
    """The sizes of the graphs as the dataset stores them; None if it must be asked one by one."""
    data, slices = dataset._data, dataset.slices
    if dataset._indices is not None or slices is None or not isinstance(data, Data):
        return None
    if "edge_index" not in slices:
        return None
    if "num_nodes" in data:
        listed = getattr(data._store, "_num_nodes", None)
        return np.array(listed, np.int64) if isinstance(listed, list) else None
    for key in ("x", "pos"):
        if key in slices:
            found: Ints = np.diff(slices[key].numpy())
            return found
    return None


def _check(data: Any, i: int, total: int) -> None:
    which = f"graph {i}: " if total > 1 else ""
    if not isinstance(data, Data) or isinstance(data, Batch):
        hint = "; add the trees before the graphs are batched" if isinstance(data, Batch) else ""
        raise TypeError(f"{which}expected a homogeneous PyG Data, got {type(data).__name__}{hint}")
    edges = data.get("edge_index")
    if not isinstance(edges, Tensor):
        raise ValueError(f"{which}the data has no edge_index (an empty one has the shape (2, 0))")
    if edges.dim() != 2 or edges.size(0) != 2 or edges.dtype not in (torch.int32, torch.int64):
        got = f"{edges.dtype} {tuple(edges.shape)}"
        raise ValueError(f"{which}edge_index must be whole numbers of shape (2, m), got {got}")
    if data._store.get("num_nodes") is None and N_KEYS.isdisjoint(data._store.keys()):
        raise ValueError(
            f"{which}the number of nodes is unknown, since the data has neither x nor num_nodes; "
            "set `data.num_nodes`"
        )


def _named_weights(parts: Sequence[Any], counts: Ints, name: str) -> Weights:
    """Those that were asked for by name: some graph has them."""
    found = _weights(parts, counts, name)
    if found is None and counts.sum():
        raise ValueError(f"edge_weight={name!r}, but the data has no attribute of that name")
    return found


def _given_by(weight: Callable[[Data], Tensor], graphs: Sequence[Data]) -> list[Tensor]:
    found = [weight(data) for data in graphs]
    for i, given in enumerate(found):
        if given is None:
            which = f"graph {i}: " if len(found) > 1 else ""
            raise ValueError(f"{which}the function edge_weight gave None, not one weight an edge")
    return found


def _weights(parts: Sequence[Any], counts: Ints, name: str) -> Weights:
    """The weights of all graphs, 1 where a graph has none; None if none has any."""
    if all(part is None for part in parts):
        return None
    totals = counts if len(parts) == len(counts) else [counts.sum()]
    found = []
    for i, (part, count) in enumerate(zip(parts, totals, strict=True)):
        which = f"graph {i}: " if len(parts) > 1 else ""
        if part is None:
            found.append(np.ones(count))
            continue
        if not isinstance(part, Tensor) or part.shape != (count,) or part.is_complex():
            shape = tuple(part.shape) if isinstance(part, Tensor) else type(part).__name__
            raise ValueError(
                f"{which}{name} must be a tensor of shape ({count},), one weight an edge, "
                f"got {shape}"
            )
        found.append(_numpy(part).astype(np.float64))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _numpy(tensor: Tensor) -> NDArray[Any]:
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:  # which NumPy does not have
        tensor = tensor.float()
    array: NDArray[Any] = tensor.numpy()
    return array
