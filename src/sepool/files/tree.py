"""The file format of coding trees, version 2; loading a tree executes nothing.

The fields:

- ``format``: "sepool-tree"; ``version``: 2; ``entropy``: a number, in bits;
- ``counts``: how many nodes each level has, level 0 (the graph's nodes) first, the root (1) last;
- ``parent``: the parent of every node but the root, as its number on the next level;
- ``volume`` and ``boundary``: of every node, in the weights of the graph;
- ``names``: what the graph's nodes are called, or null.

``parent``, ``volume`` and ``boundary`` are flat, level after level. On all levels but the lowest,
siblings are adjacent, in the order of their parents. A ``.json`` file is an object with these
fields, a ``.npz`` file a NumPy archive with these arrays, in which ``names`` is a JSON text.

Version 1 has ``cut`` for ``boundary``, and is still read.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.files.atomic import StrPath, atomic_write

FORMAT, VERSION, VERSIONS = "sepool-tree", 2, ("1", "2")
SUFFIXES = (".json", ".npz")


class TreeFormatError(ValueError):
    """A file that should hold a coding tree does not."""


class TreeFields(NamedTuple):
    """What a file says about a tree; the fields are those of `sepool.CodingTree`."""

    counts: tuple[int, ...]
    parent: NDArray[np.int32]
    volume: NDArray[np.float64]
    boundary: NDArray[np.float64]
    entropy: float
    names: tuple[str, ...] | None


def tree_suffix(path: StrPath) -> str:
    """The suffix of a tree file, .json or .npz.

    Example:
        >>> tree_suffix("tree.txt")
        Traceback (most recent call last):
        ValueError: a tree file ends in .json or .npz, got 'tree.txt'
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"a tree file ends in {' or '.join(SUFFIXES)}, got {os.fspath(path)!r}")
    return suffix


def write_tree(path: StrPath, tree: TreeFields) -> None:
    """Writes a tree whole or not at all."""
    suffix = tree_suffix(path)
    fields = {"format": FORMAT, "version": VERSION, **tree._asdict()}
    with atomic_write(path) as file:
        if suffix == ".npz":
            arrays: dict[str, Any] = {**fields, "names": json.dumps(tree.names)}
            np.savez_compressed(file, **arrays)
        else:
            plain = {k: x.tolist() if isinstance(x, np.ndarray) else x for k, x in fields.items()}
            lines = (f'"{key}": {json.dumps(x, allow_nan=False)}' for key, x in plain.items())
            file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def read_tree(path: StrPath) -> TreeFields:
    """Reads a tree and checks that it is one."""
    read = _read_npz if tree_suffix(path) == ".npz" else _read_json
    try:
        return _check(read(path))
    except TreeFormatError as error:
        raise TreeFormatError(f"{os.fspath(path)}: {error}") from None


def _read_json(path: StrPath) -> dict[str, Any]:
    with open(path, "rb") as file:
        try:
            fields = json.load(file)
        except (ValueError, RecursionError) as error:
            raise TreeFormatError(f"truncated, or not JSON ({error})") from None
    if not isinstance(fields, dict):
        raise TreeFormatError(f"expected a JSON object, got a {type(fields).__name__}")
    return fields


def _read_npz(path: StrPath) -> dict[str, Any]:
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                fields = {key: x if x.ndim else x.item() for key, x in archive.items()}
            fields["names"] = json.loads(fields.get("names", "null"))
        except Exception:  # a damaged archive fails in a dozen ways
            raise TreeFormatError("truncated, or not a NumPy archive of plain arrays") from None
    return fields


def _check(fields: dict[str, Any]) -> TreeFields:
    if str(fields.get("format")) != FORMAT:
        raise TreeFormatError(f"not a coding tree: format is {fields.get('format')!r}")
    version = fields.get("version")
    if str(version) not in VERSIONS:
        known = " and ".join(VERSIONS)
        raise TreeFormatError(f"version {version!r} of the format; this sepool reads {known}")
    counts = _numbers(fields, "counts", "iu")
    if len(counts) < 2 or counts.min() < 1 or counts[-1] != 1:
        raise TreeFormatError(f"counts must run from the nodes down to one root, got {counts}")
    size = sum(counts.tolist())
    parent = _numbers(fields, "parent", "iu", size - 1)
    volume = _numbers(fields, "volume", "iuf", size).astype(np.float64)
    key = "cut" if str(version) == "1" else "boundary"
    boundary = _numbers(fields, key, "iuf", size).astype(np.float64)
    if (boundary > volume * (1 + 1e-9)).any():
        raise TreeFormatError("a boundary is larger than its volume")
    _check_levels(counts, parent, volume)
    entropy, names = fields.get("entropy"), fields.get("names")
    if not isinstance(entropy, (int, float)) or not abs(entropy) <= sys.float_info.max:
        raise TreeFormatError(f"entropy must be a finite number, got {entropy!r}")
    if names is not None:
        if not isinstance(names, list) or not all(type(name) is str for name in names):
            raise TreeFormatError("names must be a list of strings, or null")
        if len(names) != counts[0]:
            raise TreeFormatError(f"expected {counts[0]} names, one a node, got {len(names)}")
        names = tuple(names)
    levels = tuple(counts.tolist())
    return TreeFields(levels, parent.astype(np.int32), volume, boundary, float(entropy), names)


def _numbers(fields: dict[str, Any], key: str, kinds: str, size: int | None = None) -> NDArray[Any]:
    try:
        array = np.asarray(fields[key])
    except KeyError:
        raise TreeFormatError(f"{key} is missing") from None
    except ValueError:
        raise TreeFormatError(f"{key} must be a flat list of numbers") from None
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise TreeFormatError(f"{key} must be a flat list of numbers, got {array.dtype}")
    if size is not None and len(array) != size:
        raise TreeFormatError(f"{key} must have {size} entries, got {len(array)}")
    if not np.isfinite(array).all() or array.min(initial=0) < 0:
        raise TreeFormatError(f"{key} must be finite and not negative")
    return array


def _check_levels(counts: NDArray[Any], parent: NDArray[Any], volume: NDArray[Any]) -> None:
    """Every node has a parent, every cluster has children, and volumes add up."""
    ends = np.cumsum(counts)
    for level in range(1, len(counts)):
        below = slice(ends[level - 1] - counts[level - 1], ends[level - 1])
        up, size = parent[below], counts[level]
        if up.max() >= size:
            raise TreeFormatError(f"parent {up.max()} on level {level}, which has {size} nodes")
        if not np.bincount(up, minlength=size).all():
            raise TreeFormatError(f"a cluster on level {level} has no children")
        if level > 1 and (np.diff(up) < 0).any():
            raise TreeFormatError(f"siblings are not side by side on level {level - 1}")
        sums = np.bincount(up, volume[below], size)
        if not np.allclose(sums, volume[below.stop : below.stop + size]):
            raise TreeFormatError(f"the volumes on level {level} are not those of their children")
