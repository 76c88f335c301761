"""Same graph, other node order: is the tree the same?

Every graph is built again under random permutations of its nodes. Its tree counts as the same if H
agrees to 1e-9 and the trees are isomorphic as rooted trees whose nodes carry their volume and
boundary. That is decided exactly, level by level from the leaves: equal (volume, boundary,
children) get equal numbers. A graph counts only if all its permutations agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphs import Edges, tu_datasets
from peers import OURS, TGP, available, build_trees
from results import Recorder, parser, root_of
from score import entropy

JUDGED = {"MUTAG": 1.0, "NCI1": 1.0, "IMDB-BINARY": 1.0, "PROTEINS": 0.995}
TOLERANCE = 1e-9


class Shapes:
    """Numbers rooted trees so that isomorphic ones share a number."""

    def __init__(self) -> None:
        self.seen: dict[tuple[Any, ...], int] = {}

    def of(self, tree: Any) -> int:
        below: list[int] = []
        for level in range(tree.height + 1):
            children: list[list[int]] = [[] for _ in range(tree.num_clusters(level))]
            if level:
                for child, parent in zip(below, tree.assignment(level).tolist(), strict=True):
                    children[parent].append(child)
            marks = zip(
                np.round(tree.volumes(level), 6).tolist(),
                np.round(tree.boundaries(level), 6).tolist(),
                children,
                strict=True,
            )
            keys = [(volume, boundary, *sorted(kids)) for volume, boundary, kids in marks]
            below = [self.seen.setdefault((level, *key), len(self.seen)) for key in keys]
        return below[0]


def permuted(graph: Edges, rng: np.random.Generator) -> Edges:
    """The graph under other node ids, its edges in another order and turned round at random."""
    pairs = rng.permutation(graph.num_nodes)[rng.permutation(graph.pairs)]
    flip = rng.random(len(pairs)) < 0.5
    pairs[flip] = pairs[flip, ::-1]
    return Edges(graph.name, graph.num_nodes, pairs)


def compare(
    graphs: list[Edges], height: int, method: str, permutations: int, shapes: Shapes
) -> tuple[int, int]:
    """How many graphs keep their H, and their tree, under every permutation."""
    rng = np.random.default_rng(0)
    first = build_trees(graphs, height, method)
    names = [shapes.of(tree) for tree in first]
    same_entropy = np.ones(len(graphs), bool)
    same_tree = np.ones(len(graphs), bool)
    for _ in range(permutations):
        again = build_trees([permuted(graph, rng) for graph in graphs], height, method)
        same_entropy &= np.abs(np.asarray(again.entropy) - np.asarray(first.entropy)) <= TOLERANCE
        same_tree &= [shapes.of(tree) == name for tree, name in zip(again, names, strict=True)]
    return int(same_entropy.sum()), int((same_entropy & same_tree).sum())


def compare_selector(graphs: list[Edges], height: int, permutations: int) -> int:
    """How many graphs keep their H with torch-geometric-pool's selector."""
    rng = np.random.default_rng(0)
    kept = 0
    for graph in graphs:
        copies = [graph, *(permuted(graph, rng) for _ in range(permutations))]
        scores = [entropy(copy, TGP.run(copy, height).levels) for copy in copies]
        kept += max(scores) - min(scores) <= TOLERANCE
    return kept


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--permutations", type=int, default=None)
    arguments = options.parse_args()
    quick = arguments.quick
    root = root_of(arguments)
    permutations = arguments.permutations or (2 if quick else 5)
    out = Recorder(__file__, quick)
    shapes = Shapes()
    for name, dataset in tu_datasets(JUDGED, root):
        graphs = dataset[:300] if quick else dataset
        for height in (2, 3):
            row = {"graph": name, "graphs": len(graphs), "height": height, "target": JUDGED[name]}
            row["permutations"] = permutations
            for method in OURS:
                entropies, trees = compare(graphs, height, method.name, permutations, shapes)
                out.add(**row, method=method.name, same_entropy=entropies, same_tree=trees)
            if name == "MUTAG" and available((TGP,)):
                kept = compare_selector(graphs, height, permutations)
                out.add(**row, method=TGP.name, same_entropy=kept, same_tree=None)


if __name__ == "__main__":
    main()
