"""sepool and its peers behind one face: prepare a graph, solve (the timed part), read labels.

Every program gets its own graph object, built before the clock starts, and one thread. The time
ends with the program's own result object; turning that into NumPy labels is not charged to anyone.
"""

from __future__ import annotations

import os
import random
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from graphs import Edges
from score import Levels, fit_height

for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # read by torch and networkit, which are imported later


@dataclass(frozen=True)
class Answer:
    """Nested labels (finest first) of a tree of the asked height, and the seconds it took."""

    levels: Levels
    seconds: float


@dataclass(frozen=True)
class Method:
    """A program that turns a graph into a hierarchy.

    ``prepare`` builds the program's graph object, ``solve`` does the work for a height, ``read``
    gives the hierarchy that ``solve`` found, finest level first, of any number of levels.
    """

    name: str
    needs: str  # the package to import
    prepare: Callable[[Edges], Any]
    solve: Callable[[Any, int], Any]
    read: Callable[[Any, Edges], Levels]

    @property
    def installed(self) -> bool:
        return find_spec(self.needs) is not None

    def run(self, graph: Edges, height: int) -> Answer:
        prepared = self.prepare(graph)
        start = time.perf_counter()
        result = self.solve(prepared, height)
        seconds = time.perf_counter() - start
        return Answer(fit_height(graph, self.read(result, graph), height), seconds)


# ---------------------------------------------------------------------------------------------
# sepool


def sepool_graph(graph: Edges) -> Any:
    import sepool

    pairs = graph.pairs if graph.weights is None else (graph.pairs, graph.weights)
    return sepool.as_graph(pairs, num_nodes=graph.num_nodes)


def graph_batch(graphs: list[Edges]) -> Any:
    import sepool

    sizes = [graph.num_nodes for graph in graphs]
    return sepool.as_graph_batch([graph.pairs for graph in graphs], num_nodes=sizes)


def build_trees(graphs: list[Edges], height: int, method: str) -> Any:
    """The trees of many graphs in one call over their edge arrays, conversion included."""
    import sepool

    return sepool.coding_trees(graph_batch(graphs), height, method=method, num_threads=1)


def tree_levels(tree: Any) -> Levels:
    return [np.asarray(tree.labels(level), np.int64) for level in range(1, tree.height)]


def _sepool(method: str) -> Method:
    def solve(graph: Any, height: int) -> Any:
        import sepool

        return sepool.coding_tree(graph, height, method=method, num_threads=1)

    return Method(method, "sepool", sepool_graph, solve, lambda tree, _: tree_levels(tree))


# ---------------------------------------------------------------------------------------------
# torch-geometric-pool: SEPSelect, a port of the code released with the paper


def _tgp_prepare(graph: Edges) -> Any:
    import tgp.select  # noqa: F401 - imported here so that the clock never sees it
    import torch

    torch.set_num_threads(1)
    both = np.concatenate([graph.pairs, graph.pairs[:, ::-1]])
    weight = None
    if graph.weights is not None:
        weight = torch.from_numpy(np.tile(graph.weights, 2))
    return torch.from_numpy(np.ascontiguousarray(both.T)), weight, graph.num_nodes


def _tgp_solve(prepared: Any, height: int) -> Any:
    from tgp.select import SEPSelect

    edge_index, weight, n = prepared
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SEPSelect().multi_level_select(edge_index, weight, num_nodes=n, levels=height - 1)


def _tgp_read(result: Any, graph: Edges) -> Levels:
    """Level i maps the clusters of level i-1, so labels of nodes are compositions."""
    labels = np.arange(graph.num_nodes)
    levels: Levels = []
    for selection in result:
        labels = selection.cluster_index.numpy()[labels]
        levels.append(labels)
    return levels


# ---------------------------------------------------------------------------------------------
# Infomap: two levels at height 2, its multilevel tree above


def _infomap_prepare(graph: Edges) -> Any:
    from infomap import Infomap

    network = Infomap(silent=True, seed=1, num_threads=1)
    network.add_nodes(range(graph.num_nodes))
    links = graph.pairs if graph.weights is None else np.column_stack([graph.pairs, graph.weights])
    network.add_links(links)
    return network


def _infomap_solve(network: Any, height: int) -> Any:
    return network.run(two_level=height == 2)


def _infomap_read(result: Any, graph: Edges) -> Levels:
    """Infomap lists the modules of a node from the top down."""
    modules = result.multilevel_modules()
    table = np.array([modules[node] for node in range(graph.num_nodes)], np.int64)
    return list(table.T[::-1])


# ---------------------------------------------------------------------------------------------
# igraph


def _igraph_prepare(graph: Edges) -> Any:
    import igraph

    built = igraph.Graph(n=graph.num_nodes, edges=graph.pairs)
    if graph.weights is not None:
        built.es["weight"] = graph.weights
    return built


def _leiden_solve(graph: Any, height: int) -> Any:
    random.seed(0)  # igraph draws from Python's generator
    weights = "weight" if "weight" in graph.es.attributes() else None
    return graph.community_leiden(objective_function="modularity", weights=weights)


def _louvain_solve(graph: Any, height: int) -> Any:
    random.seed(0)
    weights = "weight" if "weight" in graph.es.attributes() else None
    return graph.community_multilevel(weights=weights, return_levels=True)


# ---------------------------------------------------------------------------------------------
# networkit


def _networkit_prepare(graph: Edges) -> Any:
    import networkit

    networkit.setNumberOfThreads(1)
    weighted = graph.weights is not None
    values = graph.weights if weighted else np.ones(graph.num_edges)
    u, v = np.ascontiguousarray(graph.pairs.T)
    return networkit.GraphFromCoo((values, (u, v)), n=graph.num_nodes, weighted=weighted)


def _networkit_solve(name: str) -> Callable[[Any, int], Any]:
    def solve(graph: Any, height: int) -> Any:
        import networkit

        networkit.setSeed(1, False)
        algorithm = getattr(networkit.community, name)(graph)
        algorithm.run()
        return algorithm.getPartition()

    return solve


# ---------------------------------------------------------------------------------------------

BEST, FAST, PAPER = _sepool("best"), _sepool("fast"), _sepool("paper")
TGP = Method("tgp SEP", "tgp", _tgp_prepare, _tgp_solve, _tgp_read)
INFOMAP = Method("Infomap", "infomap", _infomap_prepare, _infomap_solve, _infomap_read)
LEIDEN = Method(
    "Leiden", "igraph", _igraph_prepare, _leiden_solve, lambda c, _: [np.array(c.membership)]
)
LOUVAIN = Method(
    "Louvain",
    "igraph",
    _igraph_prepare,
    _louvain_solve,
    lambda levels, _: [np.array(level.membership) for level in levels],
)


def _networkit(name: str, algorithm: str) -> Method:
    return Method(
        name,
        "networkit",
        _networkit_prepare,
        _networkit_solve(algorithm),
        lambda p, _: [np.array(p.getVector())],
    )


PLM = _networkit("PLM", "PLM")
PARALLEL_LEIDEN = _networkit("ParallelLeiden", "ParallelLeiden")
PLP = _networkit("label propagation", "PLP")

OURS = (BEST, FAST, PAPER)
PEERS = (TGP, INFOMAP, LEIDEN, LOUVAIN, PLM)


def available(methods: tuple[Method, ...]) -> list[Method]:
    """The methods whose package is installed; says which are left out."""
    for method in methods:
        if not method.installed:
            print(f"{method.name} is left out: the package {method.needs} is not installed")
    return [method for method in methods if method.installed]
