"""All tasks by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from sepool.pyg.format import Forest
from sepool_experiments.data.graphs import cached_forest, load_folds, load_graphs
from sepool_experiments.data.tasks import files, molecules
from sepool_experiments.data.tasks.colours import colour_task, grid_edges, grid_squares
from sepool_experiments.data.tasks.distances import distance_task
from sepool_experiments.data.tasks.neighbours_match import neighbours_match_task
from sepool_experiments.data.tasks.task import Task, cached_task

COLOURED = (1_200, 300, 500)  # training, validation and test
DISTANCES = (1_000, 200, 400)
MATCHES = (4_000, 500, 1_000)


def _grid(root: Path, name: str, side: int) -> Task:
    return colour_task(name, grid_edges(side), COLOURED)


def _matched(root: Path, name: str, side: int) -> Task:
    edges = grid_edges(side)
    return colour_task(name, edges, COLOURED, matched=(edges, grid_squares(side)))


def _roads(root: Path, name: str, file: str) -> Task:
    return colour_task(name, files.read_roads(root, file), COLOURED)


def _distances(root: Path, name: str) -> Task:
    return distance_task(name, name, DISTANCES)


def _match(root: Path, name: str, depth: int) -> Task:
    return neighbours_match_task(name, depth, MATCHES)


TASKS: dict[str, Callable[[Path, str], Task]] = {
    "colour-16": partial(_grid, side=16),
    "colour-32": partial(_grid, side=32),
    "matched-16": partial(_matched, side=16),
    "matched-32": partial(_matched, side=32),
    "colour-euroroad": partial(_roads, file="euroroad"),
    "colour-minnesota": partial(_roads, file="minnesota"),
    "GCB-hard": partial(files.gcb_task, file="gcb_hard_small.npz"),
    "diameter": _distances,
    "eccentricity": _distances,
    "shortest-path": _distances,
    "match-3": partial(_match, depth=3),
    "match-4": partial(_match, depth=4),
    "molhiv": molecules.hiv_task,
}


def load_task(root: Path, name: str, fold: int = 0, folds: int = 1) -> Task:
    """Load a task, or a TU dataset with a test fold and the fold before it for validation."""
    if name in TASKS:
        return cached_task(root, name, lambda: TASKS[name](root, name))
    graphs = load_graphs(root, name)
    tests = load_folds(root, graphs, folds)
    test, val = tests[fold], tests[fold - 1]
    train = np.setdiff1d(np.arange(len(graphs.y)), np.concatenate([test, val]))
    return Task(name, graphs.nodes, graphs.edges, graphs.features(), graphs.y, train, val, test)


def load_task_trees(root: Path, task: Task, tree: str, height: int) -> Forest:
    """Load the trees of a task from the cache, or build them; one tree if the graph is shared."""
    return cached_forest(root, task.name, task.graphs, tree, height)
