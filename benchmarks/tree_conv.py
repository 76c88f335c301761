"""Training SEPGraphNet along trees of height 3 against the same stack without a tree.

One epoch with the stock loader, one thread: 1,000 graphs of NCI1, and 200 grids of 16 x 16.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import grid

from epoch import train, without_trees
from graphs import MissingDataError
from pyg import HEIGHT, add_trees, tu
from results import Recorder, parser, root_of
from sepool import AddCodingTree
from sepool.nn import SEPGraphNet
from timing import Contender, measured, take_turns

HIDDEN, BATCH, RATE, ROUNDS = 64, 128, 1e-3, 5
GRAPHS, GRIDS, SIDE = 1000, 200, 16


def nci1(root: Path | None, count: int) -> list[Any]:
    return list(add_trees(tu("NCI1", root)[:count].copy()))


def grids(root: Path | None, count: int) -> list[Any]:
    """One grid with random colours; its tree is built once."""
    torch.manual_seed(0)
    edges, _ = grid(SIDE, SIDE)
    edges = edges[:, edges[0] != edges[1]]
    tree = AddCodingTree(HEIGHT, ties="structure")(Data(edge_index=edges, num_nodes=SIDE**2)).tree
    return [
        Data(x=torch.eye(2)[torch.randint(2, (SIDE**2,))], edge_index=edges, tree=tree, y=i % 2)
        for i in range(count)
    ]


def epochs(name: str, graphs: list[Any], rounds: int, out: Recorder) -> None:
    classes = int(max(int(graph.y) for graph in graphs)) + 1
    contenders = []
    for label, height, data in (("tree", HEIGHT, graphs), ("flat", 0, without_trees(graphs))):
        torch.manual_seed(0)
        model = SEPGraphNet(graphs[0].num_features, HIDDEN, classes, height)
        adam = torch.optim.Adam(model.parameters(), RATE)
        loader = DataLoader(data, BATCH, shuffle=True)
        contenders.append(Contender(label, partial(train, model, adam, loader)))
    take_turns(contenders, rounds, budget=300)
    out.add(graph=name, graphs=len(graphs), hidden=HIDDEN, batch=BATCH, **measured(contenders))


def main() -> None:
    arguments = parser(__doc__.splitlines()[0]).parse_args()
    warnings.filterwarnings("ignore", category=UserWarning, module="torch_geometric")
    torch.set_num_threads(1)
    out, root = Recorder(__file__, arguments.quick), root_of(arguments)
    share = 10 if arguments.quick else 1
    for name, make, count in (("NCI1", nci1, GRAPHS), (f"grid {SIDE} x {SIDE}", grids, GRIDS)):
        try:
            graphs = make(root, count // share)
        except MissingDataError as error:
            print(error)
            continue
        epochs(name, graphs, 3 if arguments.quick else ROUNDS, out)


if __name__ == "__main__":
    main()
