"""Graphs with their trees in one small file, read without executing anything.

`save_graphs` writes a NumPy archive (``.npz``), version 2 of the format:

- ``about``: a JSON text: the attributes in order, the types of the tensors, and all values that are
  not tensors;
- ``nodes``: the number of nodes of every graph;
- the arrays of `sepool.pyg.edge_code`: every undirected edge once;
- ``data.x``, ``data.y``, ...: an array an attribute, all graphs concatenated; ``rows.x``, ...: the
  number of rows of every graph. Whole numbers, one-hot features among them, take as few bytes as
  possible;
- ``counts``, ``parent`` and ``sizes`` as in `sepool.pyg.cache`, and ``symmetric``, if the graphs
  have trees.

Pooled edges are not stored, but summed again when the file is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.files.archive import ArchiveError, Arrays, read_archive, write_archive
from sepool.files.atomic import StrPath
from sepool.pyg.cache import pack_forest, unpack_forest
from sepool.pyg.edge_code import decode_edges, encode_edges
from sepool.pyg.format import Blocks, EdgeBlocks, pack_blocks, unpack_trees
from sepool.pyg.hierarchy import EDGE_WEIGHT
from sepool.pyg.reading import graph_list, read_dataset
from sepool.segments import Ints, pointers

with needs("torch", "sepool.pyg.dataset"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Data, InMemoryDataset

FORMAT, VERSION = "sepool-graphs", 2


def save_graphs(path: StrPath, graphs: InMemoryDataset | Iterable[Data]) -> None:
    """Write graphs, with their trees if they have any, to one file: whole or not at all.

    Args:
        path: the file, by custom with the ending ``.npz``.
        graphs: an in-memory dataset, a list of graphs or a subset of either, all with the same
            attributes: tensors, or values that JSON can hold. They are loaded as plain ``Data``.

    Raises:
        TypeError: an attribute cannot be stored, or graphs have their own way of batching.
        ValueError: graphs have different attributes, or a tree is not of its graph's edges.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import sepool
        >>> pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.eye(2))
        >>> pairs = sepool.AddCodingTree(2).apply_all([pair] * 3)
        >>> with TemporaryDirectory() as folder:
        ...     save_graphs(Path(folder, "pairs.npz"), pairs)
        ...     load_graphs(Path(folder, "pairs.npz"))[0]
        Data(edge_index=[2, 2], x=[2, 2], tree=[22])
    """
    dataset = _as_dataset(graphs)
    nodes, edges, *_ = read_dataset(dataset, None)
    data: Any = dataset._data
    arrays: Arrays = {"nodes": nodes, **encode_edges(nodes, edges)}
    types, others = {}, {}
    for key, value in data.to_dict().items():
        if key in ("edge_index", "num_nodes", "_num_nodes", "tree"):
            continue
        if isinstance(value, Tensor):
            arrays[f"data.{key}"] = _array(key, value)
            arrays[f"rows.{key}"] = np.diff(_slices(dataset, key, value))
            types[key] = str(value.dtype).removeprefix("torch.")
        else:
            others[key] = _json_value(key, value, alone=dataset.slices is None)
    if "tree" in data:
        arrays.update(_tree_arrays(dataset, nodes, edges))
    about = {
        "keys": [key for key in data.to_dict() if key != "_num_nodes"],
        "types": types,
        "others": others,
    }
    arrays["about"] = np.array(json.dumps(about))
    write_archive(path, FORMAT, VERSION, arrays)


def _array(key: str, value: Tensor) -> NDArray[Any]:
    try:
        array: NDArray[Any] = value.detach().cpu().numpy()
    except (TypeError, RuntimeError) as error:
        raise TypeError(
            f"the attribute {key!r} ({value.dtype}, {value.layout}) has no NumPy array: {error}"
        ) from None
    return array


def _json_value(key: str, value: Any, alone: bool) -> Any:
    """Return a value that can be stored; PyG joins dictionaries of many graphs by entry."""
    if isinstance(value, Mapping) and not alone:
        raise TypeError(f"the attribute {key!r} is a dictionary; store its entries as attributes")
    try:
        json.dumps(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the attribute {key!r} is neither a tensor nor fit for JSON: {error}"
        ) from None
    return value


def load_graphs(path: StrPath) -> InMemoryDataset:
    """Return the graphs of a file that `save_graphs` wrote, as an in-memory dataset.

    Raises:
        sepool.files.archive.ArchiveError: the file is damaged, or of another format.
    """
    arrays = read_archive(path, FORMAT, VERSION)
    try:
        return _read(arrays)
    except ArchiveError as error:
        raise ArchiveError(f"{path}: {error}") from None
    except Exception as error:  # a damaged member fails in a dozen ways, even with SystemError
        text = str(error) or type(error).__name__
        raise ArchiveError(f"{path}: the arrays do not fit together ({text})") from None


def _read(arrays: Arrays) -> InMemoryDataset:
    about = json.loads(str(arrays["about"]))
    nodes = arrays["nodes"].astype(np.int64)
    counts, edges = decode_edges(arrays, nodes)
    stored: dict[str, Any] = {"edge_index": torch.from_numpy(edges)}
    slices = {"edge_index": torch.from_numpy(pointers(counts))}
    for key, dtype in about["types"].items():
        stored[key] = _tensor(arrays[f"data.{key}"]).to(getattr(torch, dtype))
        slices[key] = torch.from_numpy(pointers(arrays[f"rows.{key}"]))
        axis = Data().__cat_dim__(key, stored[key])
        if len(nodes) > 1 and slices[key][-1] != stored[key].size(axis):
            raise ValueError(f"{key} has not as many rows as its graphs together")
    for key, value in about["others"].items():
        stored[key] = value
        slices[key] = torch.arange(len(nodes) + 1)
    if "tree" in about["keys"]:
        trees = unpack_forest(arrays, nodes)
        weight = stored[EDGE_WEIGHT].double().numpy() if EDGE_WEIGHT in stored else None
        blocks = pack_blocks(
            trees, EdgeBlocks(counts, edges[0], edges[1], weight), arrays["symmetric"]
        )
        stored["tree"], slices["tree"] = map(torch.from_numpy, blocks)
    data = Data()
    for key in about["keys"]:
        data[key] = int(nodes.sum()) if key == "num_nodes" else stored[key]
    if "num_nodes" in about["keys"] and len(nodes) > 1:
        data._store._num_nodes = nodes.tolist()
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = data, slices if len(nodes) > 1 else None
    return dataset


def _tensor(array: NDArray[Any]) -> Tensor:
    """Return the array as a tensor; PyTorch before 2.3 has no unsigned type but uint8."""
    wide = array.dtype.kind == "u" and array.dtype.itemsize > 1
    return torch.from_numpy(array.astype(np.int64) if wide else array)


def _tree_arrays(dataset: InMemoryDataset, nodes: Ints, edges: EdgeBlocks) -> Arrays:
    tree: Any = dataset._data.tree
    blocks = Blocks(tree.cpu().numpy(), _slices(dataset, "tree", tree))
    heights = np.unique(-blocks.numbers[blocks.ptr[:-1]])
    if len(heights) > 1:
        raise ValueError(f"the graphs have trees of the heights {heights.tolist()}; expected one")
    trees, symmetric = unpack_trees(blocks)
    differs = np.flatnonzero(trees.counts[:, 0] != nodes)
    if len(differs):
        raise ValueError(f"graph {differs[0]}: its tree is of another graph; add the trees again")
    again = pack_blocks(trees, edges, symmetric)
    if not np.array_equal(again.numbers, blocks.numbers):
        raise ValueError("a tree is not of its graph's edges; add the trees after the last change")
    return {**pack_forest(trees), "symmetric": symmetric}


def _as_dataset(graphs: InMemoryDataset | Iterable[Data]) -> InMemoryDataset:
    if isinstance(graphs, InMemoryDataset):
        _check_batching(graphs._data)
        return graphs if graphs._indices is None else graphs.copy()
    items = graph_list(graphs)
    if not items:
        raise ValueError("there are no graphs to save")
    _check_attributes(items)
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = InMemoryDataset.collate(items)
    return dataset


def _check_batching(data: Any) -> None:
    """Refuse graphs with their own way of batching, which the file cannot hold."""
    if isinstance(data, Data):
        for name in ("__inc__", "__cat_dim__"):
            if getattr(type(data), name) is not getattr(Data, name):
                raise TypeError(
                    f"{type(data).__name__} has its own {name}, and would be loaded as plain Data"
                )


def _check_attributes(graphs: Sequence[Any]) -> None:
    """Refuse graphs with different attributes: those of the first would be stored."""
    first: set[str] = set()
    for i, data in enumerate(graphs):
        if not isinstance(data, Data):
            raise TypeError(f"graph {i}: expected a PyG Data, got {type(data).__name__}")
        _check_batching(data)
        first = first if i else set(data.keys())
        for key in sorted(first.symmetric_difference(data.keys()) - {"num_nodes"}):
            has, lacks = (0, i) if key in first else (i, 0)
            raise ValueError(f"graph {has} has the attribute {key!r}, graph {lacks} does not")


def _slices(dataset: InMemoryDataset, key: str, value: Tensor) -> Ints:
    """Return the pointers of an attribute; PyG has none for a single graph."""
    if dataset.slices is None:
        return np.array([0, value.numel()])
    slices: Ints = dataset.slices[key].numpy()
    return slices
