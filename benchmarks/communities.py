"""Communities of large graphs: agreement with the planted ones, entropy and time, of all programs.

- lfr:      LFR graphs of 1,000 to 1 million nodes, mixing 0.1 to 0.7; height 2
- families: planted partition, Barabasi-Albert, R-MAT and grid, 200,000 and 1 million edges
- knn:      weighted graphs of nearest neighbours, 10,000 and 100,000 nodes
- planted:  hierarchies of three levels; the levels of a tree of height 5
- heights:  `best` at heights 2 to 4, with one seed and the lowest of four
- blocks:   `fast` with moves one after the other, and in blocks of several sizes
- threads:  `best` with one and two threads, with and without reading an edge array, and two
            processes with one thread each at the same time
- gve:      GVE-Leiden, a program of its own, on an LFR graph of 7.6 million edges (--gve PROGRAM)
- growth:   LFR graphs of 1 to 50 million edges, and memory at 100 million (--parts growth)

Every program runs with its defaults on one thread; Infomap with two levels and one trial. One's own
graph: `python benchmarks/communities.py --graph edges.txt`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

import sepool
from generators import FAMILIES, Planted, hierarchy, lfr, neighbours, shuffled
from graphs import Edges, IntArray
from peers import BEST, FAST, INFOMAP, LEIDEN, PARALLEL_LEIDEN, PLM, PLP, Method, available
from results import Recorder, parser
from score import entropy, fit_height
from timing import Contender, measured, take_turns

PARTS = ("lfr", "families", "knn", "planted", "heights", "blocks", "threads", "growth")
METHODS = (BEST, FAST, PLM, PARALLEL_LEIDEN, LEIDEN, PLP, INFOMAP)
SLOW = 3_000_000  # edges from which on Infomap and Leiden are left out
COLUMNS = (64, 16, 4)  # clusters of the planted hierarchies


def mix(planted: Planted, seed: int) -> Planted:
    """The same graph with random ids and edges in random order; truth goes along."""
    graph = shuffled(planted.graph, seed)
    ids = np.random.default_rng(seed)
    ids.permutation(planted.graph.num_edges)
    ids = ids.permutation(planted.graph.num_nodes)
    levels = [np.empty_like(level) for level in planted.levels]
    for new, old in zip(levels, planted.levels, strict=True):
        new[ids] = old
    return Planted(graph, levels)


def compare(
    planted: Planted,
    out: Recorder,
    part: str,
    rounds: int,
    skip: tuple[Method, ...] = (),
    **row: Any,
) -> None:
    """Times all programs in turns at height 2, and scores what they find."""
    graph = planted.graph
    large = graph.num_edges > SLOW
    slow = (INFOMAP, LEIDEN) if large else ()
    methods = [m for m in available(METHODS) if m not in (*slow, *skip)]
    contenders = [Contender(m.name, partial(m.solve, m.prepare(graph), 2)) for m in methods]
    take_turns(contenders, rounds, budget=30)
    bits, agreement = {}, {}
    for method, contender in zip(methods, contenders, strict=True):
        levels = method.read(contender.result, graph)
        bits[method.name] = entropy(graph, fit_height(graph, levels, 2))
        if planted.levels:
            agreement[method.name] = max(
                float(normalized_mutual_info_score(planted.levels[0], found)) for found in levels
            )
    if planted.levels:
        bits["planted"] = entropy(graph, planted.levels[:1])
    out.add(
        part=part,
        graph=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        **row,
        **measured(contenders),
        entropy=bits,
        nmi=agreement,
    )


def lfr_graphs(quick: bool) -> Iterator[tuple[float, Planted]]:
    sizes = (1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    for n in sizes:
        for mixing in (0.1, 0.3, 0.5, 0.6, 0.7) if n < 1_000_000 else (0.3, 0.5):
            yield mixing, mix(lfr(n, mixing, seed=n + 1), seed=2)


def part_lfr(quick: bool, out: Recorder) -> None:
    for mixing, planted in lfr_graphs(quick):
        rounds = 3 if planted.graph.num_nodes >= 1_000_000 else 5
        compare(planted, out, "lfr", rounds, mixing=mixing)


def part_families(quick: bool, out: Recorder) -> None:
    for size in (100_000,) if quick else (200_000, 1_000_000):
        for make in FAMILIES.values():
            compare(Planted(shuffled(make(size, 3), seed=4), []), out, "families", 5, asked=size)


def part_knn(quick: bool, out: Recorder) -> None:
    for n in (10_000,) if quick else (10_000, 100_000):
        compare(neighbours(n, 20, seed=5), out, "knn", 3)


def part_planted(quick: bool, out: Recorder) -> None:
    """The best agreement of any level of a tree of height 5 with every planted level."""
    for share in ((0.6, 0.2, 0.15), (0.5, 0.25, 0.15), (0.4, 0.25, 0.2)):
        for seed in range(3 if quick else 10):
            planted = mix(hierarchy(COLUMNS, 32, share, seed), seed)
            tree = sepool.coding_tree(BEST.prepare(planted.graph), 5)
            found = [tree.labels(level) for level in range(1, 5)]
            levels: dict[str, list[float]] = {"best": agreements(planted, found)}
            if available((INFOMAP,)):
                answer = INFOMAP.solve(INFOMAP.prepare(planted.graph), 5)
                levels["Infomap"] = agreements(planted, INFOMAP.read(answer, planted.graph))
            out.add(part="planted", graph=planted.graph.name, shares=share, seed=seed, ami=levels)


def agreements(planted: Planted, found: list[IntArray]) -> list[float]:
    return [
        max(float(adjusted_mutual_info_score(truth, labels)) for labels in found)
        for truth in planted.levels
    ]


def part_heights(quick: bool, out: Recorder) -> None:
    graphs = [mix(lfr(10_000 if quick else 100_000, mu, 6), 7).graph for mu in (0.3, 0.6)]
    graphs += [shuffled(make(100_000 if quick else 200_000, 8), 9) for make in FAMILIES.values()]
    for graph in graphs:
        built = BEST.prepare(graph)
        for height in (2, 3, 4):
            one = Contender("best", partial(tree_of, built, height))
            take_turns([one], 3 if quick else 5, budget=30)
            lowest = sepool.coding_tree(built, height, trials=4, num_threads=1).entropy
            out.add(
                part="heights",
                graph=graph.name,
                edges=graph.num_edges,
                height=height,
                **measured([one]),
                entropy={"best": one.result.entropy, "best of 4": lowest},
            )


def tree_of(graph: Any, height: int, threads: int = 1) -> sepool.CodingTree:
    return sepool.coding_tree(graph, height, num_threads=threads)


def part_blocks(quick: bool, out: Recorder) -> None:
    """Moves of single items, and of blocks that are decided on together."""
    from sepool import _core

    size = 100_000 if quick else 1_000_000
    graphs = [mix(lfr(size // 8, mu, 14), 15).graph for mu in (0.3, 0.6)]
    graphs += [shuffled(make(size, 16), 17) for make in FAMILIES.values()]
    for graph in graphs:
        built = FAST.prepare(graph)
        seconds, entropy = {}, {}
        for block in (1, 64, 512, 2048, 0):
            _core.set_block(block)
            work = Contender("fast", partial(FAST.solve, built, 2))
            take_turns([work], 3, budget=30)
            name = f"blocks of {block}" if block else "default"
            seconds[name], entropy[name] = work.seconds, work.result.entropy
        out.add(
            part="blocks", graph=graph.name, edges=graph.num_edges, seconds=seconds, entropy=entropy
        )


def part_threads(quick: bool, out: Recorder) -> None:
    """Two threads against one, also with reading; and the same tree from any number."""
    for n in (30_000,) if quick else (1_000_000,):
        graph = mix(lfr(n, 0.3, 10), 11).graph
        built = BEST.prepare(graph)
        for height in (2, 3):
            work = [
                Contender(f"{threads} threads{label}", partial(tree_of, source, height, threads))
                for threads in (1, 2)
                for label, source in (("", built), (", with reading", graph.pairs))
            ]
            take_turns(work, 3, budget=120)
            trees = [contender.result for contender in work]
            trees += [tree_of(built, height, threads) for threads in (3, 16)]
            apart = median(side_by_side(partial(tree_of, built, height)) for _ in range(3))
            out.add(
                part="threads",
                graph=graph.name,
                edges=graph.num_edges,
                height=height,
                **measured(work),
                two_processes=apart,
                same=all(tree == trees[0] for tree in trees),
            )


def side_by_side(work: Callable[[], Any]) -> float:
    """Returns the seconds of the slower of two processes that do the same work at the same time."""
    fork = get_context("fork")
    start, seconds = fork.Barrier(2), fork.SimpleQueue()

    def run() -> None:
        start.wait()
        begin = perf_counter()
        work()
        seconds.put(perf_counter() - begin)

    processes = [fork.Process(target=run) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return max(seconds.get() for _ in processes)


def part_gve(quick: bool, out: Recorder, program: str) -> None:
    """GVE-Leiden (github.com/puzzlef/leiden-communities-openmp), a program that reads files.

    Its own clock counts, without reading; the runs of both take turns.
    """
    planted = mix(lfr(30_000 if quick else 1_000_000, 0.3, seed=18), seed=19)
    built = BEST.prepare(planted.graph)
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.mtx")
        write_matrix_market(planted.graph, path)
        ours, theirs = Contender("best", partial(tree_of, built, 2)), []
        for _ in range(3 if quick else 5):
            ours.sample()
            command = [program, str(path), "0", "0"]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=environment
            )
            line = next(x for x in done.stdout.splitlines() if "leidenStaticOmp" in x)
            theirs.append(float(line.split("{")[1].split("ms")[0]) / 1000)
    out.add(
        part="gve",
        graph=planted.graph.name,
        edges=planted.graph.num_edges,
        seconds={"best": ours.seconds, "GVE-Leiden": median(theirs)},
        rounds={"best": len(ours.samples), "GVE-Leiden": len(theirs)},
    )


def write_matrix_market(graph: Edges, path: Path) -> None:
    """Writes an unweighted graph as a symmetric pattern, ids from 1."""
    low, high = np.sort(graph.pairs, axis=1).T + 1
    head = f"{graph.num_nodes} {graph.num_nodes} {graph.num_edges}"
    np.savetxt(
        path,
        np.stack([high, low], axis=1),
        fmt="%d",
        header=f"%%MatrixMarket matrix coordinate pattern symmetric\n{head}",
        comments="",
    )


def part_growth(quick: bool, out: Recorder) -> None:
    """Every size in a process of its own, whose peak of memory is that of the search."""
    for edges in (100_000, 400_000) if quick else (1_000_000, 5_000_000, 50_000_000, 100_000_000):
        for program in ("best, height 2", "best, height 3", "PLM"):
            if program == "PLM" and edges > 50_000_000:
                continue
            command = [sys.executable, __file__, "--one", program, "--edges", str(edges)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, memory, nmi = map(float, done.stdout.split()[-3:])
            out.add(
                part="growth", program=program, edges=edges, seconds=seconds, bytes=memory, nmi=nmi
            )


def one(program: str, edges: int) -> None:
    """Prints the seconds, the bytes an edge and the NMI of one search on an LFR graph."""
    planted = lfr(round(edges / 7.1), 0.3, seed=12)
    ids = np.random.default_rng(13).permutation(planted.graph.num_nodes).astype(np.int32)
    pairs = np.ascontiguousarray(ids[planted.graph.pairs])
    truth = np.empty_like(planted.levels[0])
    truth[ids] = planted.levels[0]
    del planted, ids
    graph = Edges("LFR", len(truth), pairs)
    clear_peak()
    base = rss() - pairs.nbytes
    if program == "PLM":
        prepared = PLM.prepare(replace(graph, pairs=pairs.astype(np.int64)))
        contender = Contender(program, partial(PLM.solve, prepared, 2))
        contender.sample()
        found = PLM.read(contender.result, graph)[0]
    else:
        contender = Contender(program, partial(tree_of, pairs, int(program[-1])))
        contender.sample()
        found = contender.result.labels(contender.result.height - 1)
    peak = (peak_rss() - base) / len(pairs)
    print(contender.seconds, peak, normalized_mutual_info_score(truth, found))


def rss() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def clear_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak_rss() -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


RUN: dict[str, Callable[[bool, Recorder], None]] = {
    "lfr": part_lfr,
    "families": part_families,
    "knn": part_knn,
    "planted": part_planted,
    "heights": part_heights,
    "blocks": part_blocks,
    "threads": part_threads,
    "growth": part_growth,
}


def own_graph(path: str) -> None:
    """Compares all programs on a graph of the user's."""
    graph = sepool.as_graph(path)
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    upper = row < graph.indices
    pairs = np.stack([row[upper], graph.indices[upper]], axis=1).astype(np.int64)
    weights = None if graph.weights is None else graph.weights[upper].astype(np.float64)
    out = Recorder("own_graph", quick=True)
    compare(Planted(Edges(path, graph.num_nodes, pairs, weights), []), out, "own", 3)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:-1])
    options.add_argument("--graph", help="an edge list of one's own instead")
    options.add_argument("--gve", help="the program of GVE-Leiden, to compare with it alone")
    options.add_argument("--one", help="one search of the part growth, for a process of its own")
    options.add_argument("--edges", type=int)
    arguments = options.parse_args()
    if arguments.graph:
        return own_graph(arguments.graph)
    if arguments.one:
        return one(arguments.one, arguments.edges)
    if arguments.gve:
        return part_gve(
            arguments.quick, Recorder(__file__, arguments.quick, ("gve",)), arguments.gve
        )
    out = Recorder(__file__, arguments.quick, arguments.parts)
    for part in arguments.parts:
        RUN[part](arguments.quick, out)
    return None


if __name__ == "__main__":
    main()
