"""Trees on disk, so that no tree is built twice.

A folder holds one file a call, named after what the trees depend on: the edges, the weights the
trees are built with, the sizes of the graphs, the options, and the versions of sepool and of this
format. A file is a NumPy archive with the arrays

- ``counts``: how many nodes each level has, one row a tree;
- ``parent``: for the nodes of every graph, their cluster on level 1;
- ``sizes``: how many children every cluster of level 2 and above has, tree by tree, level by level;
- ``core``: a checksum of the compiled core that built the trees.

Trees of another core are built anew. Where there is no compiled core, trees are read whatever core
they are from. What is pooled along a tree is not stored, but summed again.
"""

from __future__ import annotations

import hashlib
import os
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import ArchiveError, Arrays, read_archive, write_archive
from sepool.files.atomic import StrPath
from sepool.graph.edges import pointers
from sepool.pyg.packing import Forest, Ints, ranges
from sepool.pyg.reading import Graphs

FORMAT, VERSION = "sepool-trees", 1


def cached_trees(
    folder: StrPath, graphs: Graphs, options: str, build: Callable[[], Forest]
) -> Forest:
    """The trees of the graphs, from the folder or from ``build``, whose result goes there.

    A file that is damaged is replaced, with a warning.
    """
    os.makedirs(folder, exist_ok=True)
    path = Path(folder, f"{digest(graphs, options)}.npz")
    if path.exists():
        try:
            arrays = read_archive(path, FORMAT, VERSION)
            trees = unpack_forest(arrays, graphs.nodes)
        except ArchiveError as error:
            text = str(error).removeprefix(f"{path}: ")
            warnings.warn(f"{path}: {text}; the trees are built again", stacklevel=4)
        else:
            if core_mark() in (0, arrays.get("core", np.array(-1)).tolist()):
                return trees
    trees = build()
    write_archive(path, FORMAT, VERSION, {**pack_forest(trees), "core": np.array(core_mark())})
    return trees


def digest(graphs: Graphs, options: str) -> str:
    """A name for all that trees depend on."""
    from sepool import __version__

    edges, weighted = graphs.edges, graphs.tree_weight is not None
    head = f"{VERSION} {__version__} {options} {len(graphs.nodes)} {weighted}"
    found = hashlib.blake2b(head.encode(), digest_size=16)
    for array in (graphs.nodes, edges.counts, edges.row, edges.col, graphs.tree_weight):
        if array is not None:
            kind = np.float64 if array.dtype.kind == "f" else np.int64
            found.update(np.ascontiguousarray(array, kind).data)
    return found.hexdigest()


@cache
def core_mark() -> int:
    """A checksum of the compiled core; 0 where there is none."""
    try:
        from sepool import _core
    except ImportError:
        return 0
    return zlib.crc32(Path(_core.__file__).read_bytes()) or 1


def pack_forest(trees: Forest) -> Arrays:
    """Trees as the arrays of a file."""
    counts = trees.counts
    start, nodes = pointers(counts[:, :-1].sum(axis=1))[:-1], counts[:, 0]
    lower = np.zeros(len(trees.parent), np.bool_)
    leaves = ranges(start, nodes)
    lower[leaves] = True
    # Siblings are neighbours above level 0, so that a new family begins where the parent changes.
    owner = np.repeat(np.arange(counts[:, 1:-1].size), counts[:, 1:-1].ravel())
    parent = trees.parent[~lower] + _first_family(counts)[owner]
    sizes = np.bincount(parent, minlength=int(counts[:, 2:].sum()))
    return {"counts": counts, "parent": trees.parent[leaves], "sizes": sizes}


def unpack_forest(arrays: Arrays, nodes: Ints) -> Forest:
    """Trees from the arrays of a file, checked against the sizes of the graphs.

    Raises:
        ArchiveError: they do not fit.
    """
    try:
        counts = arrays["counts"].astype(np.int64)
        lowest, sizes = arrays["parent"].astype(np.int32), arrays["sizes"].astype(np.int64)
        _check(counts, lowest, sizes, nodes)
    except (KeyError, ValueError, IndexError) as error:
        raise ArchiveError(f"the trees are not those of the graphs ({error})") from None
    parent = np.empty(int(counts[:, :-1].sum()), np.int32)
    lower = np.zeros(len(parent), np.bool_)
    lower[ranges(pointers(counts[:, :-1].sum(axis=1))[:-1], nodes)] = True
    parent[lower] = lowest
    families = np.arange(len(sizes))
    local = families - np.repeat(_first_family(counts), counts[:, 2:].ravel())
    parent[~lower] = np.repeat(local, sizes)
    return Forest(counts, parent)


def _first_family(counts: Ints) -> Ints:
    """The number of the first cluster of every tree and level from 2, counted through."""
    return pointers(counts[:, 2:].ravel())[:-1]


def _check(counts: Ints, lowest: NDArray[np.int32], sizes: Ints, nodes: Ints) -> None:
    if counts.ndim != 2 or counts.shape[1] < 2 or not np.array_equal(counts[:, 0], nodes):
        raise ValueError("the numbers of nodes differ")
    if counts.min() < 1 or (counts[:, -1] != 1).any():
        raise ValueError("a level is empty, or has several roots")
    if len(lowest) != nodes.sum() or len(sizes) != counts[:, 2:].sum():
        raise ValueError("an array is too short or too long")
    if (lowest < 0).any() or (lowest >= np.repeat(counts[:, 1], nodes)).any():
        raise ValueError("a cluster is out of range")
    owner = np.repeat(np.arange(counts[:, 2:].size), counts[:, 2:].ravel())
    below = np.bincount(owner, sizes, counts[:, 2:].size)
    if (sizes < 1).any() or (below != counts[:, 1:-1].ravel()).any():
        raise ValueError("the children of a level are not the level below")
