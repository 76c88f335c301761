"""Checks of the device, of datasets and of splits before a run; every error is one line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sepool_experiments.data.graphs import load_folds, load_graphs, load_trees
from sepool_experiments.data.nodes import TreeChoice, load_nodes, load_tree
from sepool_experiments.data.tasks.catalog import load_task, load_task_trees
from sepool_experiments.data.tu import read_numbers
from sepool_experiments.protocols.protocol import HEIGHT, Protocol
from sepool_experiments.protocols.units import Unit

Indices = NDArray[np.int64]
Dataset = TypeVar("Dataset")


def own_datasets(root: Path) -> list[str]:
    """Return the names of datasets with files in the layout of the TU collection."""
    files = sorted(root.glob("TU/*/raw/*_A.txt"))
    return [path.parts[-3] for path in files if path.name == f"{path.parts[-3]}_A.txt"]


def check_device(device: str) -> str:
    """Return the device to train on; "auto" is a GPU where one is available."""
    import torch

    available = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    if device == "auto":
        return available[1] if len(available) > 1 else "cpu"
    if (f"{device}:0" if device == "cuda" else device) not in available:
        raise ValueError(f"device must be auto, {', '.join(available)}, got {device!r}")
    return device


def fingerprint(arrays: Iterable[NDArray[np.integer] | None]) -> str:
    """Return a hash of 12 characters, equal for equal integers of any width.

    It keeps rows of different data apart.

    >>> fingerprint([np.array([1, 2]), None]) == fingerprint([np.array([1, 2], np.uint8), None])
    True
    >>> fingerprint([np.array([1, 2])]) == fingerprint([np.array([1]), np.array([2])])
    False
    """
    digest = hashlib.blake2b(digest_size=6)
    for array in arrays:
        if array is None:
            digest.update(b"none")
            continue
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array, "<i8").data)
    return digest.hexdigest()


def _tested_times(parts: Sequence[Indices], size: int, start: str, noun: str) -> Indices:
    """Return the number of parts of every graph or node; raise ValueError for others than these."""
    members = np.concatenate([np.asarray(part, np.int64) for part in parts])
    if len(outside := members[(members < 0) | (members >= size)]):
        raise ValueError(f"{start} there is no {noun} {outside[0]}")
    return np.bincount(members, minlength=size)


def check_folds(tests: Sequence[Indices], num_graphs: int, dataset: str) -> None:
    """Raise ValueError for test folds that do not partition the data.

    The published folds have equal sizes: a remainder of fewer graphs than folds is in the training
    set of every fold.
    """
    start = f"the folds of {dataset} do not partition its {num_graphs} graphs:"
    counts = _tested_times(tests, num_graphs, start, "graph")
    if len(repeated := np.flatnonzero(counts > 1)):
        raise ValueError(f"{start} graph {repeated[0]} is in {counts[repeated[0]]} test folds")
    if (untested := int((counts == 0).sum())) >= len(tests):
        raise ValueError(f"{start} {untested} of them are in none of the {len(tests)} test folds")


def check_split(parts: Sequence[Indices], num_nodes: int, dataset: str) -> None:
    """Raise ValueError for a split with an empty part, or with a node in two parts."""
    start = f"the split of {dataset} is wrong:"
    if not all(len(part) for part in parts):
        raise ValueError(f"{start} a part of it is empty")
    counts = _tested_times(parts, num_nodes, start, "node")
    if len(repeated := np.flatnonzero(counts > 1)):
        number = f"node {repeated[0]} is in {counts[repeated[0]]}"
        raise ValueError(f"{start} {number} of training, validation and test")


def _check_training(folder: Path, tests: Sequence[Indices], num_graphs: int, dataset: str) -> None:
    """Raise ValueError for a training file that is not the complement of its test fold."""
    for number, test in enumerate(tests, start=1):
        path = folder / f"train_idx-{number}.txt"
        if path.exists():
            both = np.concatenate([read_numbers(path).ravel(), test])
            if not np.array_equal(np.sort(both), np.arange(num_graphs)):
                raise ValueError(
                    f"the folds of {dataset} do not partition its {num_graphs} graphs: {path.name} "
                    f"is not the complement of test_idx-{number}.txt"
                )


def check_datasets(root: Path, protocol: Protocol, units: Sequence[Unit]) -> dict[str, str]:
    """Load or download the datasets, folds and trees of some units; return their fingerprints."""
    fingerprints = {}
    for dataset in dict.fromkeys(unit.dataset for unit in units):
        on_dataset = [unit for unit in units if unit.dataset == dataset]
        if protocol.task == "longrange":
            fingerprints[dataset] = check_task(root, dataset, on_dataset, protocol.folds)
        elif protocol.task == "nodes":
            fingerprints[dataset] = check_node_data(root, dataset, on_dataset)
        else:
            trees = dict.fromkeys(unit.tree for unit in on_dataset)
            fingerprints[dataset] = check_data(root, dataset, trees, protocol.folds)
    return fingerprints


def check_data(root: Path, dataset: str, trees: Iterable[str], folds: int) -> str:
    """Load a dataset, its folds and its trees, so that workers find them in the cache.

    Returns the fingerprint of the dataset and its folds.
    """
    graphs = _load(load_graphs, root, dataset, "TU")
    tests = load_folds(root, graphs, folds)
    check_folds(tests, len(graphs.y), dataset)
    _check_training(root / "splits" / dataset, tests, len(graphs.y), dataset)
    for tree in trees:
        load_trees(root, graphs, tree, HEIGHT)
    return fingerprint([graphs.nodes, *graphs.edges[:3], graphs.labels, graphs.y, *tests])


def check_task(root: Path, name: str, units: Sequence[Unit], folds: int) -> str:
    """Load a task and its trees; return the fingerprint of the task and its split."""
    task = _load(load_task, root, name, "TU")
    for tree in dict.fromkeys(unit.tree for unit in units):
        if tree:
            load_task_trees(root, task, tree, HEIGHT)
    parts: list[Indices] = []
    for fold in range(folds):
        split = load_task(root, name, fold, folds)
        parts += [split.train, split.val, split.test]
    edges = task.edges
    features = np.flatnonzero(task.x)
    return fingerprint([task.nodes, edges.row, edges.col, features, task.y.round(), *parts])


def check_node_data(root: Path, dataset: str, units: Iterable[Unit]) -> str:
    """Load a graph, its public split and the trees of some units; return the fingerprint."""
    nodes = _load(load_nodes, root, dataset, "Planetoid")
    check_split([nodes.train, nodes.val, nodes.test], nodes.num_nodes, dataset)
    choices = (TreeChoice.of(unit.tree, unit.config) for unit in units)
    for choice in dict.fromkeys(replace(choice, levels=()) for choice in choices):
        load_tree(root, nodes, choice)
    # Positions instead of values: quotients may differ in the last digit.
    edges, nonzero = nodes.edges, np.flatnonzero(nodes.x)
    return fingerprint([edges.row, edges.col, nonzero, nodes.y, nodes.train, nodes.val, nodes.test])


def _load(load: Callable[[Path, str], Dataset], root: Path, dataset: str, family: str) -> Dataset:
    """Load a dataset; a failed download is a ValueError, an error in local files stays as it is."""
    raw = root / family / dataset / "raw"
    local = (root / "sepool" / f"{dataset}.npz").exists() or any(raw.glob("*"))
    try:
        return load(root, dataset)
    except Exception as error:
        if local:
            raise
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"no data for {dataset} in {root} and no download ({first_line}); let PyG download it "
            "on a machine with a network into --data (or SEPOOL_DATA), or copy its raw files to "
            f"{raw}"
        ) from error
