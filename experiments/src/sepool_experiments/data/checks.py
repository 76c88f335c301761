"""Looks for bad input before any work starts; every complaint is one line that says what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sepool_experiments.data.fingerprint import data_mark
from sepool_experiments.data.tu import read_numbers
from sepool_experiments.models.systems import HEIGHT
from sepool_experiments.protocols.catalog import DATASETS, SYSTEMS_OF, TREES, Protocol
from sepool_experiments.protocols.units import Unit

Indices = NDArray[np.int64]
Loaded = TypeVar("Loaded")


def check_names(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuses a name that is not known and offers those that look like it.

    >>> check_names("dataset", ["MUTAQ"], ["MUTAG", "NCI1"])
    Traceback (most recent call last):
    ValueError: unknown dataset 'MUTAQ'; did you mean MUTAG?
    """
    by_lower = {name.lower(): name for name in known}
    for name in names:
        if name in known:
            continue
        near = get_close_matches(name.lower(), by_lower, n=3, cutoff=0.4)
        offer = " or ".join(by_lower[text] for text in near)
        hint = f"did you mean {offer}?" if near else f"known: {', '.join(known)}"
        raise ValueError(f"unknown {what} {name!r}; {hint}")


def check_choice(
    protocol: Protocol,
    datasets: Sequence[str] | None,
    systems: Sequence[str] | None,
    trees: Sequence[str] | None,
    root: Path | None = None,
) -> None:
    """Refuses datasets, systems and trees that a protocol cannot use.

    Args:
        protocol: the table.
        datasets: names of datasets; None for those of the table, as with the next two.
        systems: names of systems.
        trees: kinds of trees.
        root: folder of the datasets, which may hold others than those of the paper.
    """
    for name in datasets or ():
        if DATASETS.get(name, protocol.kind) != protocol.kind:
            about = f"{protocol.name} is about {protocol.kind}"
            raise ValueError(f"{name} is for the classification of {DATASETS[name]}, {about}")
    fitting = [name for name, kind in DATASETS.items() if kind == protocol.kind]
    own = own_datasets(root) if root is not None and protocol.kind == "graphs" else []
    check_names("dataset", datasets or (), list(dict.fromkeys(fitting + own)))
    check_names("tree", trees or (), TREES)
    there = SYSTEMS_OF[protocol.kind]
    for kind, others in SYSTEMS_OF.items():
        for name in systems or ():
            if name in others and name not in there:
                raise ValueError(
                    f"{name} classifies {kind}, {protocol.name} is about {protocol.kind}"
                )
    check_names("system", systems or (), list(there))


def own_datasets(root: Path) -> list[str]:
    """The datasets that lie in a folder as those of the TU collection do."""
    files = sorted(root.glob("TU/*/raw/*_A.txt"))
    return [path.parts[-3] for path in files if path.name == f"{path.parts[-3]}_A.txt"]


def check_device(device: str) -> str:
    """The device to train on; "auto" is a GPU where there is one.

    Raises:
        ValueError: it is not there.
    """
    import torch

    there = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    if device == "auto":
        return there[1] if len(there) > 1 else "cpu"
    if (f"{device}:0" if device == "cuda" else device) not in there:
        raise ValueError(f"device {device!r} is not there; torch sees {', '.join(there)}")
    return device


def check_folds(tests: Sequence[Indices], num_graphs: int, dataset: str) -> None:
    """Refuses test folds that do not partition the data.

    The customary folds have equal sizes: the few graphs that are left over, fewer than there are
    folds, train in all of them.

    >>> check_folds([np.array([0, 1]), np.array([1, 2])], 4, "MUTAG")
    Traceback (most recent call last):
    ValueError: the folds of MUTAG do not partition its 4 graphs: graph 1 is in 2 test folds
    """
    every = np.concatenate([np.asarray(fold, np.int64) for fold in tests])
    start = f"the folds of {dataset} do not partition its {num_graphs} graphs:"
    if len(outside := every[(every < 0) | (every >= num_graphs)]):
        raise ValueError(f"{start} there is no graph {outside[0]}")
    times = np.bincount(every, minlength=num_graphs)
    if len(twice := np.flatnonzero(times > 1)):
        raise ValueError(f"{start} graph {twice[0]} is in {times[twice[0]]} test folds")
    if (left := int((times == 0).sum())) >= len(tests):
        raise ValueError(f"{start} {left} of them are in none of the {len(tests)} test folds")


def _check_training(folder: Path, tests: Sequence[Indices], num_graphs: int, dataset: str) -> None:
    """Refuses files that let a fold train on other graphs than those that it does not test on."""
    for number, test in enumerate(tests, start=1):
        path = folder / f"train_idx-{number}.txt"
        if path.exists():
            both = np.concatenate([read_numbers(path).ravel(), test])
            if not np.array_equal(np.sort(both), np.arange(num_graphs)):
                raise ValueError(
                    f"the folds of {dataset} do not partition its {num_graphs} graphs: {path.name} "
                    f"is not what test_idx-{number}.txt leaves"
                )


def check_datasets(root: Path, protocol: Protocol, units: Sequence[Unit]) -> dict[str, str]:
    """Makes sure that all that some units of a protocol train on is there.

    Returns:
        For every dataset what `data_mark` makes of it and of its folds.

    Raises:
        ValueError: as `check_data`.
    """
    marks = {}
    for dataset in dict.fromkeys(unit.dataset for unit in units):
        mine = [unit for unit in units if unit.dataset == dataset]
        if protocol.kind == "nodes":
            marks[dataset] = check_node_data(root, dataset, mine)
        else:
            trees = dict.fromkeys(unit.tree for unit in mine)
            marks[dataset] = check_data(root, dataset, trees, protocol.folds)
    return marks


def check_data(root: Path, dataset: str, trees: Iterable[str], folds: int) -> str:
    """Makes sure that a dataset, its folds and its trees are there: downloads and builds them.

    Workers that start later find all of it in the cache.

    Args:
        root: folder of the datasets.
        dataset: name of a dataset of graphs.
        trees: what to pool along.
        folds: how many folds there must be.

    Returns:
        The mark of the dataset and its folds (see `data_mark`).

    Raises:
        ValueError: there is neither data nor a way to download it, or the folds are wrong.
    """
    from sepool_experiments.data.graphs import load_folds, load_graphs, load_trees

    graphs = _load(load_graphs, root, dataset, "TU")
    tests = load_folds(root, graphs, folds)
    check_folds(tests, len(graphs.y), dataset)
    _check_training(root / "splits" / dataset, tests, len(graphs.y), dataset)
    for tree in trees:
        load_trees(root, graphs, tree, HEIGHT)
    edges = graphs.edges
    return data_mark(
        [graphs.nodes, edges.counts, edges.row, edges.col, graphs.labels, graphs.y, *tests]
    )


def check_node_data(root: Path, dataset: str, units: Iterable[Unit]) -> str:
    """Makes sure that a graph, its public split and the trees of some units are there.

    Args:
        root: folder of the datasets.
        dataset: name of a dataset of one graph.
        units: what is to be trained on it.

    Returns:
        The mark of the graph and its split (see `data_mark`).

    Raises:
        ValueError: there is neither data nor a way to download it, or the split is wrong.
    """
    from sepool_experiments.data.nodes import TreeChoice, load_nodes, load_tree

    nodes = _load(load_nodes, root, dataset, "Planetoid")
    check_split([nodes.train, nodes.val, nodes.test], nodes.num_nodes, dataset)
    choices = (TreeChoice.of(unit.tree, unit.config) for unit in units)
    for choice in dict.fromkeys(replace(choice, levels=()) for choice in choices):
        load_tree(root, nodes, choice)
    edges, filled = nodes.edges, np.flatnonzero(nodes.x)  # quotients may differ in the last digit
    return data_mark([edges.row, edges.col, filled, nodes.y, nodes.train, nodes.val, nodes.test])


def check_split(parts: Sequence[Indices], num_nodes: int, dataset: str) -> None:
    """Refuses a split with an empty part, or with a node in two of them.

    >>> check_split([np.array([0, 1]), np.array([1]), np.array([2])], 4, "Cora")
    Traceback (most recent call last):
    ValueError: the split of Cora is wrong: node 1 is in 2 of training, validation and test
    """
    start = f"the split of {dataset} is wrong:"
    if not all(len(part) for part in parts):
        raise ValueError(f"{start} a part of it is empty")
    every = np.concatenate(parts)
    if len(outside := every[(every < 0) | (every >= num_nodes)]):
        raise ValueError(f"{start} there is no node {outside[0]}")
    times = np.bincount(every)
    if len(twice := np.flatnonzero(times > 1)):
        which = f"node {twice[0]} is in {times[twice[0]]}"
        raise ValueError(f"{start} {which} of training, validation and test")


def _load(load: Callable[[Path, str], Loaded], root: Path, dataset: str, family: str) -> Loaded:
    """What ``load`` gives; its failure is the user's where there are no files to load."""
    raw = root / family / dataset / "raw"
    there = (root / "sepool" / f"{dataset}.npz").exists() or raw.is_dir()
    try:
        return load(root, dataset)
    except Exception as error:
        if there:
            raise
        _remove_empty(raw, root)  # what a download began with
        raise ValueError(_no_data(root, dataset, raw, error)) from error


def _remove_empty(folder: Path, root: Path) -> None:
    """Removes a folder without anything in it, and those above that become empty, but not root."""
    with suppress(OSError):
        while folder != root:
            folder.rmdir()
            folder = folder.parent


def _no_data(root: Path, dataset: str, raw: Path, error: Exception) -> str:
    first_line = (str(error).splitlines() or [type(error).__name__])[0]
    return (
        f"no data for {dataset} in {root} and no download ({first_line}); either let PyG download "
        f"it on a machine with a network into --data (or SEPOOL_DATA), or put its raw files into "
        f"{raw} by hand"
    )
