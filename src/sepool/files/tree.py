"""The file format of coding trees, version 2; loading a tree executes nothing.

The fields:

- ``format``: "sepool-tree"; ``version``: 2; ``entropy``: a number, in bits;
- ``counts``: the number of nodes on each level, level 0 (the graph's nodes) first, the root last;
- ``parent``: the parent of every node but the root, as its number on the next level;
- ``volume`` and ``boundary``: of every node, in the weights of the graph;
- ``names``: of the graph's nodes, or null: strings, numbers, true, false, null, and arrays of
  these, which stand for tuples.

``parent``, ``volume`` and ``boundary`` are flat, level after level. On all levels but the lowest,
siblings are adjacent, in the order of their parents. A ``.json`` file is an object with these
fields, a ``.npz`` file a NumPy archive with these arrays, in which ``names`` is a JSON text.

Version 1, of sepool 0.1, is still read: it has ``cut`` for ``boundary``, and all names are strings.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import load_arrays
from sepool.files.atomic import StrPath, atomic_write
from sepool.files.limits import BeyondLimit

FORMAT, VERSION, VERSIONS = "sepool-tree", 2, ("1", "2")
SUFFIXES = (".json", ".npz")


class TreeFormatError(ValueError):
    """Raised when a file holds no coding tree."""


class TreeFields(NamedTuple):
    """The fields of `sepool.CodingTree`, as they are in a file."""

    counts: tuple[int, ...]
    parent: NDArray[np.int32]
    volume: NDArray[np.float64]
    boundary: NDArray[np.float64]
    entropy: float
    names: tuple[Hashable, ...] | None


def tree_suffix(path: StrPath) -> str:
    """Return the suffix of a tree file, .json or .npz."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"a tree file ends in {' or '.join(SUFFIXES)}, got {os.fspath(path)!r}")
    return suffix


def write_tree(path: StrPath, tree: TreeFields) -> None:
    """Write a tree whole or not at all.

    Raises:
        TypeError: the name of a node is neither a string nor a number nor a tuple of these.
    """
    suffix = tree_suffix(path)
    names = None if tree.names is None else [_to_json(name) for name in tree.names]
    fields = {"format": FORMAT, "version": VERSION, **tree._asdict(), "names": names}
    with atomic_write(path) as file:
        if suffix == ".npz":
            arrays: dict[str, Any] = {**fields, "names": json.dumps(names)}
            np.savez_compressed(file, **arrays)
        else:
            plain = {k: x.tolist() if isinstance(x, np.ndarray) else x for k, x in fields.items()}
            lines = (f'"{key}": {json.dumps(x, allow_nan=False)}' for key, x in plain.items())
            file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def read_tree(path: StrPath) -> TreeFields:
    """Read a tree and check it.

    Raises:
        TreeFormatError: the file is damaged, or holds something else.
    """
    read = _read_npz if tree_suffix(path) == ".npz" else _read_json
    try:
        return _check(read(path))
    except (TreeFormatError, BeyondLimit) as error:
        raise TreeFormatError(f"{os.fspath(path)}: {error}") from None
    except OSError:
        raise
    except Exception as error:
        text = str(error) or type(error).__name__
        raise TreeFormatError(
            f"{os.fspath(path)}: the fields do not fit together ({text})"
        ) from None


def _to_json(name: Any) -> Any:
    """Return the name of a node as JSON holds it; `_from_json` is the inverse."""
    if isinstance(name, tuple):
        return [_to_json(part) for part in name]
    if name is None or isinstance(name, (str, bool)):
        return name
    if isinstance(name, (np.integer, np.floating, np.bool_)):
        name = name.item()  # equal, and of the same hash
    if isinstance(name, int):
        return name
    if isinstance(name, float) and math.isfinite(name):
        return name
    raise TypeError(
        f"a tree file cannot hold the node {name!r}; names must be strings, finite numbers, None "
        "or tuples of these: save dataclasses.replace(tree, names=...)"
    )


def _from_json(name: Any) -> Hashable:
    if isinstance(name, list):
        return tuple(_from_json(part) for part in name)
    if isinstance(name, dict):
        raise TreeFormatError("names must be strings, numbers, null or lists of these")
    value: Hashable = name
    return value


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
            fields: dict[str, Any] = {
                key: x if x.ndim else x.item() for key, x in load_arrays(file).items()
            }
            fields["names"] = json.loads(fields.get("names", "null"))
        except BeyondLimit:
            raise
        except Exception:  # a damaged archive fails in a dozen ways
            raise TreeFormatError("truncated, or not a NumPy archive of plain arrays") from None
    return fields


def _check(fields: dict[str, Any]) -> TreeFields:
    if str(fields.get("format")) != FORMAT:
        raise TreeFormatError(f"not a coding tree: format is {fields.get('format')!r}")
    version = fields.get("version")
    if str(version) not in VERSIONS:
        readable = " and ".join(VERSIONS)
        raise TreeFormatError(f"version {version!r} of the format; this sepool reads {readable}")
    counts = _numbers(fields, "counts", "iu")
    if len(counts) < 2 or counts.min() < 1 or counts[-1] != 1:
        raise TreeFormatError(f"counts must run from the nodes down to one root, got {counts}")
    size = sum(counts.tolist())
    parent = _numbers(fields, "parent", "iu", size - 1)
    volume = _numbers(fields, "volume", "iuf", size).astype(np.float64)
    key = "cut" if str(version) == "1" else "boundary"
    boundary = _numbers(fields, key, "iuf", size).astype(np.float64)
    if (boundary > volume * (1 + 1e-9)).any():
        raise TreeFormatError(f"a {key} is larger than its volume")
    _check_levels(counts, parent, volume)
    entropy, names = fields.get("entropy"), fields.get("names")
    if not isinstance(entropy, (int, float)) or not abs(entropy) <= sys.float_info.max:
        raise TreeFormatError(f"entropy must be a finite number, got {entropy!r}")
    if names is not None:
        if not isinstance(names, list):
            raise TreeFormatError(f"names must be a list, or null, got a {type(names).__name__}")
        if len(names) != counts[0]:
            raise TreeFormatError(f"expected {counts[0]} names, one a node, got {len(names)}")
        names = tuple(map(_from_json, names))
    levels = tuple(counts.tolist())
    return TreeFields(levels, parent.astype(np.int32), volume, boundary, float(entropy), names)


def _numbers(
    fields: dict[str, Any], key: str, dtypes: str, size: int | None = None
) -> NDArray[Any]:
    try:
        array = np.asarray(fields[key])
    except KeyError:
        raise TreeFormatError(f"{key} is missing") from None
    except ValueError:
        raise TreeFormatError(f"{key} must be a flat list of numbers") from None
    if array.ndim != 1 or array.dtype.kind not in dtypes:
        raise TreeFormatError(f"{key} must be a flat list of numbers, got {array.dtype}")
    if size is not None and len(array) != size:
        raise TreeFormatError(f"{key} must have {size} entries, got {len(array)}")
    if not np.isfinite(array).all() or array.min(initial=0) < 0:
        raise TreeFormatError(f"{key} must be finite and not negative")
    return array


def _check_levels(counts: NDArray[Any], parent: NDArray[Any], volume: NDArray[Any]) -> None:
    """Fail unless every node has a parent, every cluster has children, and volumes add up."""
    ends = np.cumsum(counts)
    for level in range(1, len(counts)):
        below = slice(ends[level - 1] - counts[level - 1], ends[level - 1])
        up, size = parent[below], counts[level]
        if up.max() >= size:
            raise TreeFormatError(f"parent {up.max()} on level {level}, which has {size} nodes")
        if not np.bincount(up, minlength=size).all():
            raise TreeFormatError(f"a cluster on level {level} has no children")
        if level > 1 and (np.diff(up) < 0).any():
            raise TreeFormatError(f"siblings are not adjacent on level {level - 1}")
        sums = np.bincount(up, volume[below], size)
        if not np.allclose(sums, volume[below.stop : below.stop + size]):
            raise TreeFormatError(f"the volumes on level {level} are not those of their children")
