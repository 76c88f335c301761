"""Trees in PyTorch Geometric: building, keeping and batching them.

- trees:    all trees of a dataset, one thread, against torch-geometric-pool's pre-coarsening
- datasets: the seven TU datasets of the paper, default method, all cores, after PyG's own parsing
- disk:     COLLAB with its trees in one file
- loader:   one pass of the stock loader over graphs with trees, against graphs without
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from graphs import MissingDataError
from results import Recorder, parser, root_of
from timing import Contender, measured, take_turns

PARTS = ("trees", "datasets", "disk", "loader")
SEVEN = ("MUTAG", "PROTEINS", "NCI1", "DD", "IMDB-BINARY", "IMDB-MULTI", "COLLAB")
JUDGED = ("MUTAG", "PROTEINS", "IMDB-BINARY")
HEIGHT, BATCH = 3, 128


def tu(name: str, root: Path | None, **options: Any) -> Any:
    """A TU dataset as PyG reads it."""
    from torch_geometric.datasets import TUDataset

    if root is None or not (root / "TU" / name / "raw").exists():
        raise MissingDataError(f"{name}: no TU/{name}/raw below --data or SEPOOL_DATA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TUDataset(str(root / "TU"), name, **options)


def add_trees(dataset: Any, method: str = "best", threads: int | None = 1) -> Any:
    """The same dataset with trees, in one call."""
    import sepool

    options = {"num_threads": threads, "progress": False}
    return sepool.AddCodingTree(HEIGHT, method, **options).apply_all(dataset)


class Clocked:
    """Work that also keeps its processor time, which a busy machine does not stretch."""

    def __init__(self, solve: Callable[[], Any]) -> None:
        self.solve, self.samples = solve, list[float]()

    def __call__(self) -> Any:
        start = time.process_time()
        result = self.solve()
        self.samples.append(time.process_time() - start)
        return result


def pre_coarsen(transform: Any, graphs: list[Any]) -> list[Any]:
    """What torch-geometric-pool does before training, graph by graph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [transform(graph) for graph in graphs]


def trees(root: Path | None, quick: bool, out: Recorder) -> None:
    """A tree of height 3 has two levels of clusters below the root, so two levels for the peer."""
    for name in JUDGED:
        dataset = tu(name, root)
        if quick:
            dataset = dataset[:100].copy()
        work = {m: Clocked(partial(add_trees, dataset, m)) for m in ("fast", "paper", "best")}
        if find_spec("tgp"):
            from tgp.data.transforms import PreCoarsening

            graphs = [dataset.get(i) for i in range(len(dataset))]
            transform = PreCoarsening(poolers=["sep"] * (HEIGHT - 1))
            work["tgp"] = Clocked(partial(pre_coarsen, transform, graphs))
        contenders = [Contender(name, solve) for name, solve in work.items()]
        take_turns(contenders, 3 if quick else 9, budget=5 if quick else 60)
        out.add(
            part="trees",
            graph=name,
            graphs=len(dataset),
            processor={method: median(clocked.samples) for method, clocked in work.items()},
            **measured(contenders),
        )


def datasets(root: Path | None, quick: bool, out: Recorder) -> None:
    """One run each, as a user would."""
    for name in SEVEN[:1] if quick else SEVEN:
        dataset = tu(name, root)
        start = time.perf_counter()
        found = add_trees(dataset, threads=None)
        seconds = time.perf_counter() - start
        edges = int(dataset._data.num_edges)
        assert len(found) == len(dataset)
        out.add(part="datasets", graph=name, graphs=len(dataset), edges=edges, seconds=seconds)


def disk(root: Path | None, quick: bool, out: Recorder) -> None:
    """Saved and loaded, and compared with what was saved."""
    import torch

    import sepool

    name = "IMDB-BINARY" if quick else "COLLAB"
    dataset = add_trees(tu(name, root), "fast", threads=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graphs.npz")
        start = time.perf_counter()
        sepool.save_graphs(path, dataset)
        saved = time.perf_counter()
        again = sepool.load_graphs(path)
        loaded = time.perf_counter()
        size = path.stat().st_size
    for key in ("edge_index", "y", "tree"):
        assert torch.equal(dataset._data[key], again._data[key]), key
        assert torch.equal(dataset.slices[key], again.slices[key]), key
    out.add(
        part="disk",
        graph=name,
        edges=int(dataset._data.num_edges),
        bytes=size,
        save=saved - start,
        load=loaded - saved,
    )


def loader(root: Path | None, quick: bool, out: Recorder) -> None:
    """Shuffled batches in this process; the dataset has made its graphs before."""
    from torch_geometric.loader import DataLoader

    for name in JUDGED:
        plain = tu(name, root)
        kinds = {"without": plain, "with trees": add_trees(plain, "fast")}
        contenders = [
            Contender(kind, partial(list, DataLoader(graphs, BATCH, shuffle=True)))
            for kind, graphs in kinds.items()
        ]
        take_turns(contenders, 5 if quick else 31, budget=30)
        spent = {c.name: c.seconds for c in contenders}
        out.add(part="loader", graph=name, graphs=len(plain), batch=BATCH, seconds=spent)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    arguments = options.parse_args()
    root = root_of(arguments)
    out = Recorder(__file__, arguments.quick, arguments.parts)
    import torch

    torch.set_num_threads(1)
    for part in arguments.parts:
        try:
            globals()[part](root, arguments.quick, out)
        except MissingDataError as error:
            print(error)
    out.write()


if __name__ == "__main__":
    main()
