"""Speed on one thread: every comparison is a ratio of medians taken in one run, turn by turn.

- small:     `fast` against torch-geometric-pool's SEP selector, two pooling levels (height 3)
- large:     `fast` and `paper` against networkit's PLM and igraph's Leiden, 1 and 10 million edges
- infomap:   `best` against Infomap at height 2, with the entropies of both
- molecules: graphs of 20 nodes a second, in one call
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from generators import FAMILIES, shuffled
from graphs import Edges, MissingDataError, molecules, planetoid, single_graphs, tu_datasets
from peers import (
    BEST,
    FAST,
    INFOMAP,
    LEIDEN,
    PAPER,
    PLM,
    TGP,
    Method,
    available,
    build_trees,
    graph_batch,
)
from results import Recorder, parser, root_of
from score import entropy, fit_height
from sepool import coding_trees
from timing import Contender, measured, take_turns

PARTS = ("small", "large", "infomap", "molecules")
LARGE = ("Barabasi-Albert", "planted partition", "R-MAT")


def each(method: Method, prepared: list[Any], height: int) -> list[Any]:
    """A peer without a call for many graphs."""
    return [method.solve(graph, height) for graph in prepared]


def small(root: Path | None, quick: bool, out: Recorder) -> None:
    """Whole datasets, height 3: sepool from edge arrays, the selector graph by graph."""
    datasets = dict(tu_datasets(("MUTAG", "PROTEINS"), root))
    try:
        datasets = {"Cora": [planetoid("Cora", root)], **datasets}
    except MissingDataError as error:
        print(error)
    for name, graphs in datasets.items():
        if quick:
            graphs = graphs[:100]
        contenders = [
            Contender(m.name, partial(build_trees, graphs, 3, m.name)) for m in (FAST, PAPER, BEST)
        ]
        if available((TGP,)):
            tensors = [TGP.prepare(graph) for graph in graphs]
            contenders.append(Contender(TGP.name, partial(each, TGP, tensors, 3)))
        take_turns(contenders, 3 if quick else 9, budget=5 if quick else 60)
        out.add(
            part="small",
            graph=name,
            graphs=len(graphs),
            height=3,
            **measured(contenders),
        )


def contend(graph: Edges, methods: list[Method], height: int) -> list[Contender]:
    """One contender a method on prebuilt graph objects."""
    return [Contender(m.name, partial(m.solve, m.prepare(graph), height)) for m in methods]


def scores(graph: Edges, methods: list[Method], contenders: list[Contender]) -> dict[str, float]:
    """H at height 2 of what every contender found last."""
    found = {}
    for method, contender in zip(methods, contenders, strict=False):
        levels = fit_height(graph, method.read(contender.result, graph), 2)
        found[method.name] = entropy(graph, levels)
        contender.result = None
    return found


def large(sizes: list[int], quick: bool, out: Recorder) -> None:
    """Shuffled node ids, prebuilt graph objects; `fast` also at height 3 and from an edge array."""
    methods = available((FAST, PAPER, PLM, LEIDEN))
    for edges in sizes:
        for family in LARGE:
            graph = shuffled(FAMILIES[family](edges, 0), seed=1)
            contenders = contend(graph, methods, 2)
            built, array = FAST.prepare(graph), graph.pairs
            contenders.append(Contender("fast, height 3", partial(FAST.solve, built, 3)))
            contenders.append(Contender("fast, from edge array", partial(FAST.solve, array, 2)))
            take_turns(contenders, 3 if quick or edges > 3e6 else 7, budget=10 if quick else 150)
            out.add(
                part="large",
                graph=family,
                nodes=graph.num_nodes,
                edges=graph.num_edges,
                asked=edges,
                height=2,
                **measured(contenders),
                entropy=scores(graph, methods, contenders),
            )


def infomap(root: Path | None, quick: bool, out: Recorder) -> None:
    methods = available((BEST, INFOMAP))
    size = 100_000 if quick else 1_000_000
    generated = (shuffled(FAMILIES[family](size, 0), seed=1) for family in LARGE)
    for graph in chain(single_graphs(root, quick=quick), generated):
        contenders = contend(graph, methods, 2)
        take_turns(contenders, 3 if quick else 7, budget=10 if quick else 100)
        out.add(
            part="infomap",
            graph=graph.name,
            nodes=graph.num_nodes,
            edges=graph.num_edges,
            height=2,
            **measured(contenders),
            entropy=scores(graph, methods, contenders),
        )


def molecule_rate(quick: bool, out: Recorder) -> None:
    """Graphs a second: from a list of edge arrays, and from a batch that is built already."""
    count = 20_000 if quick else 100_000
    graphs = molecules(count, 20, seed=0)
    batch = graph_batch(graphs)
    for height in (2, 3):
        contenders = []
        for method in (FAST.name, PAPER.name, BEST.name):
            from_arrays = partial(build_trees, graphs, height, method)
            from_batch = partial(coding_trees, batch, height, method=method, num_threads=1)
            contenders.append(Contender(f"{method}, edge arrays", from_arrays))
            contenders.append(Contender(f"{method}, built batch", from_batch))
        take_turns(contenders, 3 if quick else 9, budget=60)
        out.add(
            part="molecules",
            graphs=count,
            edges=float(np.mean([graph.num_edges for graph in graphs])),
            height=height,
            seconds={c.name: c.seconds for c in contenders},
            rate={c.name: count / c.seconds for c in contenders},
        )


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options.add_argument("--sizes", nargs="+", type=int, help="edges of the large graphs")
    arguments = options.parse_args()
    quick = arguments.quick
    root = root_of(arguments)
    out = Recorder(__file__, quick, arguments.parts)
    sizes = arguments.sizes or ([200_000] if quick else [1_000_000, 10_000_000])
    if "small" in arguments.parts:
        small(root, quick, out)
    if "molecules" in arguments.parts:
        molecule_rate(quick, out)
    if "infomap" in arguments.parts:
        infomap(root, quick, out)
    if "large" in arguments.parts:
        large(sizes, quick, out)


if __name__ == "__main__":
    main()
