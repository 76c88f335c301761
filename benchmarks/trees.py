"""Structural entropy of the trees that SEP-G is trained along, and of none, on its seven datasets.

Trees come from the cache of the experiments, or are built now as `sepool reproduce` builds them;
those of the released code need torch-geometric-pool then. Random ones are the best with their
leaves permuted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphs import Edges, FloatArray
from results import Recorder, parser, root_of
from score import Levels, entropies
from sepool.pyg.format import Forest, global_parents
from sepool_experiments.data.graphs import GraphSet, load_graphs, load_trees
from sepool_experiments.protocols.protocol import GRAPH_DATASETS, HEIGHT

TREES = ("best", "paper", "released", "random")


def edges_of(graphs: GraphSet) -> list[Edges]:
    """The graphs of a dataset; every edge once."""
    pairs = (part.astype(np.int64) for part in graphs.edge_arrays())
    return [Edges(graphs.name, int(n), p) for n, p in zip(graphs.nodes, pairs, strict=True)]


def levels_of(forest: Forest) -> list[Levels]:
    """The cluster of every node, level by level, for every tree."""
    ends, levels = np.cumsum(forest.counts[:-1, 0]), []
    cluster = np.arange(forest.counts[:, 0].sum())
    for up in global_parents(forest)[:-1]:  # the last are children of the root
        cluster = up[cluster]
        levels.append(np.split(cluster, ends))
    return list(map(list, zip(*levels, strict=True)))


def scores(root: Path, graphs: GraphSet, edges: list[Edges], tree: str) -> FloatArray:
    """H of every graph along its tree; with one edge at least."""
    levels = levels_of(load_trees(root, graphs, tree, HEIGHT))
    some = [i for i, graph in enumerate(edges) if graph.num_edges]
    return entropies([edges[i] for i in some], [levels[i] for i in some])


def main() -> None:
    arguments = parser(__doc__).parse_args()
    root, out = root_of(arguments), Recorder(__file__, arguments.quick)
    if root is None:
        return
    for name in GRAPH_DATASETS[:1] if arguments.quick else GRAPH_DATASETS:
        graphs = load_graphs(root, name)
        edges = edges_of(graphs)
        connected = [graph for graph in edges if graph.num_edges]
        none = entropies(connected, [[] for _ in connected])
        found = {tree: scores(root, graphs, edges, tree) for tree in TREES}
        out.add(
            dataset=name,
            graphs=len(none),
            height=HEIGHT,
            none=float(none.mean()),
            entropy={tree: float(some.mean()) for tree, some in found.items()},
            lower_than_best={
                tree: int((some < found["best"] - 1e-9).sum()) for tree, some in found.items()
            },
        )


if __name__ == "__main__":
    main()
