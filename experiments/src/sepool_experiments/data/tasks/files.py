"""Graphs in files: road networks, and the small hard graphs of the GCB benchmark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sepool_experiments.data.tasks.task import Ints, Task, edge_blocks
from sepool_experiments.data.tu import read_numbers

FOLDER = "LongRange"
GCB_PARTS = ("tr", "val", "te")


def find_file(root: Path, name: str, origin: str) -> Path:
    """Return a file of the folder LongRange; raise ValueError where it is missing."""
    path = root / FOLDER / name
    if not path.exists():
        raise ValueError(f"{path} is missing; copy it there ({origin}), or set --data")
    return path


def read_roads(root: Path, name: str) -> Ints:
    """Return the edges of the largest component of a road network, its nodes from 0.

    The first line of ``<name>.edges`` has the numbers of nodes and edges, every other line an edge
    of nodes from 1.
    """
    path = find_file(root, f"{name}.edges", "network repository, road networks")
    (nodes, count), *_ = numbers = read_numbers(path, columns=2)
    edges = numbers[1:] - 1
    if len(edges) != count or edges.min() < 0 or edges.max() >= nodes:
        raise ValueError(
            f"{path}: expected {count} edges of nodes 1 to {nodes}, got {len(edges)} of nodes "
            f"{edges.min() + 1} to {edges.max() + 1}; restore the file"
        )
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    links = coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(nodes, nodes))
    component = connected_components(links, directed=False)[1]
    largest = component == np.bincount(component).argmax()
    inside = edges[largest[edges[:, 0]]]
    renamed: Ints = (np.cumsum(largest) - 1)[inside]
    return renamed


def gcb_task(root: Path, name: str, file: str) -> Task:
    """Return a dataset of GCB (Bianchi, Gallicchio and Micheli 2022) with its own split."""
    path = find_file(root, file, "github.com/FilippoMB/Benchmark_dataset_for_graph_classification")
    with np.load(path, allow_pickle=False) as archive:
        names = ("nodes", "edge_counts", "edges", "colour", "class")
        columns = [[archive[f"{part}_{n}"].astype(np.int64) for part in GCB_PARTS] for n in names]
    nodes, counts, pairs, colour, y = (np.concatenate(parts) for parts in columns)
    edges = np.split(pairs, np.cumsum(counts)[:-1])
    ends = np.cumsum([len(part) for part in columns[0]])
    train, val, test = np.split(np.arange(len(nodes)), ends[:-1])
    x = np.eye(colour.max() + 1, dtype=np.float32)[colour]
    return Task(name, nodes, edge_blocks(edges), x, y, train, val, test)
