"""The depth that is chosen, on graphs without structure, with planted levels, with known classes.

- random:   Erdos-Renyi, random regular, complete graphs and stars: splits inside a component
- planted:  hierarchies of one, two and three levels: their number, and AMI a level
- lfr:      LFR graphs of 1,000 and 5,000 nodes: one level, and AMI; height 2 beyond mixing 0.5
- known:    graphs whose nodes have classes: karate, digits, .gml files of the folder --known, and
            Cora and PubMed from --data
- time:     the chosen depth against a tree of height 3
- update:   trees of graphs of which some edges or nodes have changed, against new ones
- directed: directed LFR graphs, against Infomap

Infomap has its multilevel default. Seeds are not those of the tests.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

import sepool
from changes import changed, replaced, unchanged
from generators import FAMILIES, Planted, directed_lfr, hierarchy, lfr, shuffled
from graphs import Edges, IntArray, planetoid, planetoid_classes
from peers import INFOMAP, LEIDEN, Answer, available, sepool_graph
from results import Recorder, parser, root_of
from timing import Contender, measured, take_turns

PARTS = ("random", "planted", "lfr", "known", "time", "update", "directed")


@dataclass(frozen=True)
class Options:
    """Options of all parts."""

    quick: bool
    programs: list[str]
    python: str | None
    known: Path | None
    root: Path | None


SMALL = {"small": 20, "large": 100, "mean": 20}  # communities and degrees of the usual LFR graphs


def labels_of(tree: sepool.CodingTree) -> list[IntArray]:
    return [tree.labels(level).astype(np.int64) for level in range(1, tree.height)]


def nested_block_model(graph: Edges, python: str) -> list[IntArray]:
    """The levels of graph-tool's nested block model, by a Python that has it, finest first."""
    with TemporaryDirectory() as folder:
        links, out = Path(folder, "edges.npy"), Path(folder, "levels.npy")
        np.save(links, graph.pairs)
        command = [python, "-c", GRAPH_TOOL, str(links), str(graph.num_nodes), str(out)]
        subprocess.run(command, check=True, capture_output=True)
        levels = np.load(out)
    return [level for level in levels if level.max() > 0]


GRAPH_TOOL = """
import sys
import numpy as np, graph_tool.all as gt
gt.seed_rng(1); np.random.seed(1)
graph = gt.Graph(directed=False)
graph.add_vertex(int(sys.argv[2]))
graph.add_edge_list(np.load(sys.argv[1]))
state = gt.minimize_nested_blockmodel_dl(graph)
levels, labels = [], np.arange(graph.num_vertices())
for level in state.get_bs():
    labels = np.asarray(level)[labels]
    labels = np.unique(labels, return_inverse=True)[1]
    levels.append(labels)
np.save(sys.argv[3], np.array(levels))
"""


def levels_of(program: str, graph: Edges, python: str | None) -> list[IntArray]:
    """The levels of clusters that a program chooses, finest first."""
    if program == "sepool":
        return labels_of(sepool.coding_tree(sepool_graph(graph)))
    if program == "Infomap":
        answer = INFOMAP.solve(INFOMAP.prepare(graph), 5)
        levels = INFOMAP.read(answer, graph)
        return [level for level in levels if level.max() > 0]
    assert python is not None
    return nested_block_model(graph, python)


def agreements(planted: Planted, levels: list[IntArray]) -> list[float]:
    """The AMI of every planted level with the most similar level of a program, 0 without any."""
    return [
        max((float(adjusted_mutual_info_score(truth, labels)) for labels in levels), default=0.0)
        for truth in planted.levels
    ]


def splits_components(graph: Edges, levels: list[IntArray]) -> bool:
    if not levels:
        return False
    u, v = graph.pairs.T
    return bool((levels[0][u] != levels[0][v]).any())


def random_graphs(quick: bool) -> Iterator[Edges]:
    rng = np.random.default_rng(2027)
    count = 20 if quick else 200
    for i in range(count):
        kind = {5: "random regular", 6: "complete", 7: "star"}.get(i % 8, "Erdos-Renyi")
        n, seed = int(rng.integers(200, 5001)), int(rng.integers(2**31))
        degree = int(rng.integers(4, 31))
        if kind == "Erdos-Renyi":
            made = nx.gnm_random_graph(n, n * degree // 2, seed=seed)
        elif kind == "random regular":
            made = nx.random_regular_graph(degree, n + n % 2, seed=seed)
        elif kind == "complete":
            made = nx.complete_graph(int(rng.integers(3, 60)))
        else:
            made = nx.star_graph(int(rng.integers(3, 500)))
        yield Edges(kind, made.number_of_nodes(), np.array(made.edges, np.int64))


def part_random(options: Options, out: Recorder) -> None:
    for graph in random_graphs(options.quick):
        split = {
            name: splits_components(graph, levels_of(name, graph, options.python))
            for name in options.programs
        }
        out.add(
            part="random",
            graph=graph.name,
            nodes=graph.num_nodes,
            edges=graph.num_edges,
            split=split,
        )


PLANTED = {  # clusters a level, nodes in the smallest, shares of links inside
    "one level, strong": ((20,), 50, (0.75,)),
    "one level, weak": ((16,), 80, (0.5,)),
    "two levels, strong": ((36, 6), 40, (0.6, 0.3)),
    "two levels, weak": ((24, 4), 60, (0.5, 0.25)),
    "three levels, strong": ((64, 16, 4), 32, (0.55, 0.25, 0.15)),
    "three levels, weak": ((48, 12, 3), 50, (0.45, 0.25, 0.18)),
}


def part_planted(options: Options, out: Recorder) -> None:
    for name, (counts, size, shares) in PLANTED.items():
        for seed in range(700, 703 if options.quick else 711):
            planted = hierarchy(counts, size, shares, seed)
            for program in options.programs:
                levels = levels_of(program, planted.graph, options.python)
                out.add(
                    part="planted",
                    graph=name,
                    seed=seed,
                    program=program,
                    levels=len(levels),
                    planted=len(counts),
                    ami=agreements(planted, levels),
                )


def part_lfr(options: Options, out: Recorder) -> None:
    for n in (1000,) if options.quick else (1000, 5000):
        for mixing in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
            for seed in range(820, 822 if options.quick else 825):
                planted = lfr(n, mixing, seed, **SMALL)
                row: dict[str, Any] = {"levels": {}, "ami": {}}
                for program in options.programs:
                    levels = levels_of(program, planted.graph, options.python)
                    row["levels"][program] = len(levels)
                    row["ami"][program] = agreements(planted, levels)[0]
                tree = sepool.coding_tree(sepool_graph(planted.graph), height=2)
                row["ami"]["sepool, height 2"] = agreements(planted, labels_of(tree))[0]
                out.add(
                    part="lfr", graph=planted.graph.name, nodes=n, mixing=mixing, seed=seed, **row
                )


def known_graphs(options: Options) -> Iterator[Planted]:
    karate = nx.karate_club_graph()
    clubs = np.array([data["club"] == "Officer" for _, data in karate.nodes(data=True)]).astype(int)
    yield Planted(Edges("karate", 34, np.array(karate.edges, np.int64)), [clubs])
    for path in sorted(options.known.glob("*.gml")) if options.known else []:
        graph = nx.Graph(nx.read_gml(path, label="id"))
        classes = [data["value"] for _, data in graph.nodes(data=True)]
        graph = nx.convert_node_labels_to_integers(graph)
        truth = np.unique(classes, return_inverse=True)[1]
        yield Planted(Edges(path.stem, len(graph), np.array(graph.edges, np.int64)), [truth])
    yield digits()
    if options.root:
        for name in ("Cora", "PubMed"):
            yield Planted(planetoid(name, options.root), [planetoid_classes(name, options.root)])


def digits(k: int = 10) -> Planted:
    """The graph of nearest neighbours of scikit-learn's handwritten digits."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    data = load_digits()
    adjacency = kneighbors_graph(data.data, k)
    adjacency = adjacency.maximum(adjacency.T).tocoo()
    once = adjacency.row < adjacency.col
    pairs = np.stack([adjacency.row[once], adjacency.col[once]], axis=1).astype(np.int64)
    return Planted(Edges("digits, 10 neighbours", len(data.target), pairs), [data.target])


def part_known(options: Options, out: Recorder) -> None:
    for planted in known_graphs(options):
        graph = planted.graph
        ami, levels = {}, {}
        for program in options.programs:
            every = levels_of(program, graph, options.python)
            levels[program] = [int(level.max()) + 1 for level in every]
            ami[program] = agreements(planted, every)[0]
        for method in available((LEIDEN,)):
            answer: Answer = method.run(graph, 2)
            ami[method.name] = agreements(planted, answer.levels)[0]
        out.add(part="known", graph=graph.name, nodes=graph.num_nodes, ami=ami, levels=levels)


def timed_graphs(quick: bool) -> Iterator[Edges]:
    for n in (1_000, 12_000) if quick else (1_000, 12_000, 150_000):
        yield lfr(n, 0.3, seed=21).graph
        for make in FAMILIES.values():
            yield shuffled(make(7 * n, 22), 23)


def part_time(options: Options, out: Recorder) -> None:
    for graph in timed_graphs(options.quick):
        built = sepool_graph(graph)
        work = [
            Contender("height 3", partial(sepool.coding_tree, built, 3, num_threads=1)),
            Contender("chosen", partial(sepool.coding_tree, built, num_threads=1)),
        ]
        take_turns(work, 3, budget=60)
        out.add(part="time", graph=graph.name, edges=graph.num_edges, **measured(work))


CHANGES = ((0.01, "edges"), (0.0001, "edges"), (0.01, "edges of one region"), (0.015, "nodes"))


def part_update(options: Options, out: Recorder) -> None:
    planted = lfr(15_000 if options.quick else 150_000, 0.3, seed=31)
    rng = np.random.default_rng(32)
    for height in (2, 3):
        tree = sepool.coding_tree(sepool_graph(planted.graph), height)
        labels = tree.labels(height - 1)
        for share, change in CHANGES:
            affected = np.zeros(int(labels.max()) + 1, np.bool_)
            if change == "nodes":
                later, clusters = replaced(planted, share, rng)
                affected[labels[clusters[planted.levels[0]]]] = True
            else:
                region = change != "edges"
                later = sepool_graph(changed(planted.graph, share, region, rng))
            work = [
                Contender("anew", partial(sepool.coding_tree, later, height)),
                Contender("update", partial(sepool.update, tree, later)),
            ]
            take_turns(work, 5, budget=60)
            out.add(
                part="update",
                graph=planted.graph.name,
                edges=planted.graph.num_edges,
                height=height,
                share=share,
                change=change,
                **measured(work),
                entropy={contender.name: contender.result.entropy for contender in work},
                stayed=float(np.mean(unchanged(tree, work[1].result)[~affected])),
            )


def part_directed(options: Options, out: Recorder) -> None:
    from infomap import Infomap

    for n in (1000,) if options.quick else (1000, 5000):
        for mixing in (0.2, 0.4, 0.5):
            for seed in range(900, 902 if options.quick else 905):
                planted = directed_lfr(n, mixing, seed, **SMALL)
                graph = sepool.as_graph(planted.graph.pairs, num_nodes=n, directed="flow")
                network = Infomap(silent=True, seed=1, directed=True)
                network.add_nodes(range(n))
                network.add_links(planted.graph.pairs)
                network.run()
                modules = network.get_multilevel_modules()
                theirs = np.array([modules[node] for node in range(n)], np.int64).T
                nmi = {
                    name: max(
                        (float(normalized_mutual_info_score(planted.levels[0], x)) for x in levels),
                        default=0.0,
                    )
                    for name, levels in (
                        ("sepool", labels_of(sepool.coding_tree(graph))),
                        ("Infomap", list(theirs)),
                    )
                }
                out.add(part="directed", graph=planted.graph.name, nodes=n, seed=seed, nmi=nmi)


RUN: dict[str, Callable[[Options, Recorder], None]] = {
    "random": part_random,
    "planted": part_planted,
    "lfr": part_lfr,
    "known": part_known,
    "time": part_time,
    "update": part_update,
    "directed": part_directed,
}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options.add_argument("--known", type=Path, help="folder of .gml files whose nodes have a value")
    options.add_argument("--graph-tool", help="a Python that has graph-tool, to compare with it")
    arguments = options.parse_args()
    programs = ["sepool"]
    if available((INFOMAP,)):
        programs.append("Infomap")
    if arguments.graph_tool:
        programs.append("nested block model")
    chosen = Options(
        arguments.quick, programs, arguments.graph_tool, arguments.known, root_of(arguments)
    )
    out = Recorder(__file__, arguments.quick, arguments.parts)
    if arguments.graph_tool:
        ask = [arguments.graph_tool, "-c", "import graph_tool; print(graph_tool.__version__)"]
        version = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.split()[0]
        out.head["versions"]["graph-tool"] = version
    for part in arguments.parts:
        RUN[part](chosen, out)


if __name__ == "__main__":
    main()
