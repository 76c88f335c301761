"""Coding trees on disk, so that no tree is built twice.

A folder holds one NumPy archive a call, with the arrays

- ``about``: a JSON text: the options of the trees (height, method, seed, ties, ...), a digest of
  the graphs and of the edge weights and features that the trees are built with, the version of
  sepool and a checksum of its compiled core;
- ``counts``: the number of nodes on every level, one row a tree;
- ``parent``: the cluster on level 1 of the nodes of every graph;
- ``sizes``: the number of children of every cluster on level 2 and above, tree by tree, level by
  level.

A file is used if ``about`` equals the description of the call. Any other file of that name is
replaced, with a warning that gives the reason: trees can always be built again, and a training with
other trees than requested would not be noticed. Without a compiled core, trees of any core are
used. Pooled edges are not stored, but summed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import ArchiveError, Arrays, read_archive, write_archive
from sepool.files.atomic import StrPath, check_output
from sepool.pyg.format import Forest
from sepool.pyg.reading import Graphs
from sepool.segments import Ints, pointers, ranges

FORMAT, VERSION = "sepool-trees", 2
# Names are derived as in 0.1.0, whose files are thus recognised and replaced.
NAMES = "1 0.1.0"
REASONS = {
    "digest": "of other graphs or with other edge weights or features",
    "core": "by another compiled core",
}


def cached_trees(
    folder: StrPath, graphs: Graphs, options: Mapping[str, Any], build: Callable[[], Forest]
) -> Forest:
    """Return the trees of the graphs from the folder, or from ``build``, whose result is stored."""
    os.makedirs(folder, exist_ok=True)
    digest = digest_of(graphs, options)
    path = Path(folder, f"{digest}.npz")
    about = _about({**options, "ties": ties_of(graphs)}, digest)
    if path.is_file():
        try:
            return _read(path, about, graphs.nodes)
        except ArchiveError as error:
            reason = str(error).removeprefix(f"{path}: ")
            warnings.warn(f"{path}: {reason}; the trees are built again", stacklevel=4)
    check_output(path)
    trees = build()
    arrays = {**pack_forest(trees), "about": np.array(json.dumps(about))}
    write_archive(path, FORMAT, VERSION, arrays)
    return trees


def digest_of(graphs: Graphs, options: Mapping[str, Any]) -> str:
    """Return a digest of graphs, edge weights, features and options."""
    edges, weighted = graphs.edges, graphs.tree_weight is not None
    values = " ".join(map(str, options.values()))
    result = hashlib.blake2b(digest_size=16)
    result.update(f"{NAMES} {values} {len(graphs.nodes)} {weighted}".encode())
    for array in (graphs.nodes, edges.counts, edges.row, edges.col, graphs.tree_weight):
        if array is not None:
            dtype = np.float64 if array.dtype.kind == "f" else np.int64
            result.update(np.ascontiguousarray(array, dtype).data)
    if graphs.features is not None:  # without, the digest is that of 0.1.0
        for name, array in graphs.features._asdict().items():
            result.update(f"{name} {array is not None}".encode())
            if array is not None:
                result.update(np.ascontiguousarray(array, np.int64).data)
    return result.hexdigest()


def ties_of(graphs: Graphs) -> str:
    """Return the option ``ties`` of `AddCodingTree` that the graphs were read with."""
    return "structure" if graphs.features is None else "features"


@cache
def core_checksum() -> int:
    """Return a checksum of the compiled core, 0 if there is none."""
    try:
        from sepool import _core
    except ImportError:
        return 0
    return zlib.crc32(Path(_core.__file__).read_bytes()) or 1


def _about(options: Mapping[str, Any], digest: str) -> dict[str, Any]:
    from sepool import __version__

    return {
        **options,
        "digest": digest,
        "sepool version": __version__,
        "core": core_checksum(),
    }


def _read(path: Path, expected: dict[str, Any], nodes: Ints) -> Forest:
    arrays = read_archive(path, FORMAT, VERSION)
    try:
        about = dict(json.loads(str(arrays["about"])))
    except Exception:  # a damaged text fails in a dozen ways
        raise ArchiveError("the description of the trees is missing") from None
    for key, value in expected.items():
        if about.get(key) == value or (key == "core" and not value):
            continue
        if key in REASONS:
            raise ArchiveError(f"its trees were built {REASONS[key]}")
        raise ArchiveError(f"its trees have {key} {about.get(key)!r}, expected {value!r}")
    trees = unpack_forest(arrays, nodes)
    if trees.height != expected["height"]:
        raise ArchiveError(f"its trees have height {trees.height}, expected {expected['height']}")
    return trees


def pack_forest(trees: Forest) -> Arrays:
    """Return trees as the arrays of a file."""
    counts = trees.counts
    start, nodes = pointers(counts[:, :-1].sum(axis=1))[:-1], counts[:, 0]
    is_leaf = np.zeros(len(trees.parent), np.bool_)
    leaves = ranges(start, nodes)
    is_leaf[leaves] = True
    # Siblings are consecutive above level 0, so that their number is enough.
    owner = np.repeat(np.arange(counts[:, 1:-1].size), counts[:, 1:-1].ravel())
    parent = trees.parent[~is_leaf] + _first_parent(counts)[owner]
    sizes = np.bincount(parent, minlength=int(counts[:, 2:].sum()))
    return {"counts": counts, "parent": trees.parent[leaves], "sizes": sizes}


def unpack_forest(arrays: Arrays, nodes: Ints) -> Forest:
    """Return trees from the arrays of a file, checked against the sizes of the graphs.

    Raises:
        ArchiveError: they do not fit.
    """
    try:
        counts = arrays["counts"].astype(np.int64)
        leaf_parent, sizes = arrays["parent"].astype(np.int32), arrays["sizes"].astype(np.int64)
        _check(counts, leaf_parent, sizes, nodes)
    except Exception as error:
        text = str(error) or type(error).__name__
        raise ArchiveError(f"the trees are not those of the graphs ({text})") from None
    parent = np.empty(int(counts[:, :-1].sum()), np.int32)
    is_leaf = np.zeros(len(parent), np.bool_)
    is_leaf[ranges(pointers(counts[:, :-1].sum(axis=1))[:-1], nodes)] = True
    parent[is_leaf] = leaf_parent
    local = np.arange(len(sizes)) - np.repeat(_first_parent(counts), counts[:, 2:].ravel())
    parent[~is_leaf] = np.repeat(local, sizes)
    return Forest(counts, parent)


def _first_parent(counts: Ints) -> Ints:
    """Return the first cluster of every tree and level from 2, numbered over all trees."""
    return pointers(counts[:, 2:].ravel())[:-1]


def _check(counts: Ints, leaf_parent: NDArray[np.int32], sizes: Ints, nodes: Ints) -> None:
    if counts.ndim != 2 or counts.shape[1] < 2 or not np.array_equal(counts[:, 0], nodes):
        raise ValueError("the numbers of nodes differ")
    if counts.min() < 1 or (counts[:, -1] != 1).any():
        raise ValueError("a level is empty, or has several roots")
    if len(leaf_parent) != nodes.sum() or len(sizes) != counts[:, 2:].sum():
        raise ValueError("an array is too short or too long")
    if (leaf_parent < 0).any() or (leaf_parent >= np.repeat(counts[:, 1], nodes)).any():
        raise ValueError("a cluster is out of range")
    owner = np.repeat(np.arange(counts[:, 2:].size), counts[:, 2:].ravel())
    children = np.bincount(owner, sizes, counts[:, 2:].size)
    if (sizes < 1).any() or (children != counts[:, 1:-1].ravel()).any():
        raise ValueError("the children of a level are not the level below")
