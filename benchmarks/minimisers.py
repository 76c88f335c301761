"""Programs that minimise structural entropy: time, agreement with planted communities, entropy.

- CoDeSEG (github.com/SELGroup/CoDeSEG; Xian et al., WWW 2025): `--codeseg PROGRAM`, compiled from
  `code_c++/CoDeSEG` with `g++ -O3`. Twice: with the options of its authors (-n 10 -e 0.3), and
  until nothing moves (-n 100 -e 0). Its own clock counts, in steps of 10 ms, without the file.
- selib (github.com/SuuTTT/selib): `optimal_2d`, Python, on graphs of up to 20,000 edges, installed
  from a clone with `pip install --no-deps`.

sepool, Infomap, Leiden and PLM run as in communities.py: height 2, one thread, their defaults.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from communities import mix
from generators import FAMILIES, Planted, hierarchy, lfr, shuffled
from graphs import Edges, IntArray
from peers import BEST, FAST, INFOMAP, LEIDEN, PLM, available
from results import Recorder, parser
from score import Levels, entropy, fit_height
from timing import Contender, measured, take_turns

SLOW = 20_000  # edges from which on selib is left out
ROUNDS = 3
CODESEG = {"CoDeSEG": ("-n", "10", "-e", "0.3"), "CoDeSEG to the end": ("-n", "100", "-e", "0")}


class Program:
    """CoDeSEG on one graph: it reads a list of edges and writes a line of nodes a community."""

    def __init__(self, program: str, graph: Edges, folder: Path) -> None:
        self.program, self.graph, self.folder = program, graph, folder
        np.savetxt(folder / "graph.txt", graph.pairs, fmt="%d")

    def run(self, options: tuple[str, ...]) -> tuple[float, IntArray]:
        """The seconds of its own clock, and the community of every node."""
        files = ("-i", str(self.folder / "graph.txt"), "-o", str(self.folder / "communities.txt"))
        done = subprocess.run(
            [self.program, *files, *options], capture_output=True, text=True, check=True
        )
        line = next(x for x in done.stdout.splitlines() if x.startswith("detection done"))
        labels = np.full(self.graph.num_nodes, -1)
        with open(self.folder / "communities.txt") as file:
            for number, members in enumerate(file):
                labels[np.array(members.split(), np.int64)] = number
        if (labels < 0).any():
            raise ValueError(f"{(labels < 0).sum()} nodes have no community")
        return float(line.split()[3]), labels


def selib_solver(graph: Edges) -> Callable[[], Any]:
    """The search of selib on a networkx graph."""
    import networkx as nx
    import selib

    built = nx.Graph()
    built.add_nodes_from(range(graph.num_nodes))
    built.add_edges_from(graph.pairs.tolist())
    return partial(selib.optimal_2d, built)


def compare(planted: Planted, out: Recorder, codeseg: str | None, **row: Any) -> None:
    """Times the programs in turns and scores their communities."""
    graph = planted.graph
    methods = available((BEST, FAST, INFOMAP, LEIDEN, PLM))
    contenders = [Contender(m.name, partial(m.solve, m.prepare(graph), 2)) for m in methods]
    if find_spec("selib") and graph.num_edges <= SLOW:
        contenders.append(Contender("selib", selib_solver(graph)))
    take_turns(contenders, ROUNDS, budget=60)
    levels: dict[str, Levels] = {
        method.name: method.read(contender.result, graph)
        for method, contender in zip(methods, contenders, strict=False)
    }
    if contenders[-1].name == "selib":
        levels["selib"] = [np.asarray(contenders[-1].result[0])]
    times = measured(contenders)
    if codeseg:
        with TemporaryDirectory() as folder:
            program = Program(codeseg, graph, Path(folder))
            for name, options in CODESEG.items():
                runs = [program.run(options) for _ in range(ROUNDS)]
                times["seconds"][name] = median(seconds for seconds, _ in runs)
                levels[name] = [runs[-1][1]]
    bits = {name: entropy(graph, fit_height(graph, found, 2)) for name, found in levels.items()}
    truth = planted.levels[:1]
    out.add(
        graph=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        **row,
        **times,
        entropy=bits,
        nmi={
            name: max(float(normalized_mutual_info_score(truth[0], labels)) for labels in found)
            for name, found in levels.items()
            if truth
        },
    )


def graphs(quick: bool) -> list[Planted]:
    sizes = (1_000,) if quick else (1_000, 2_500, 100_000)
    mixings = (0.3,) if quick else (0.1, 0.3, 0.5)
    made = [mix(lfr(n, mixing, seed=n + 41), seed=42) for n in sizes for mixing in mixings]
    made.append(mix(hierarchy((64, 16, 4), 32, (0.5, 0.25, 0.15), 43), 44))
    for make in FAMILIES.values():
        made.append(Planted(shuffled(make(20_000, 45), seed=46), []))
    return made


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--codeseg", metavar="PROGRAM", help="the program of CoDeSEG")
    arguments = options.parse_args()
    out = Recorder(__file__, arguments.quick)
    if not find_spec("selib"):
        print("selib is left out: it is not installed")
    for planted in graphs(arguments.quick):
        compare(planted, out, arguments.codeseg)


if __name__ == "__main__":
    main()
