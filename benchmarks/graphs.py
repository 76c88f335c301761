"""The graphs that the benchmarks run on: classics, citation networks, TU datasets and generators.

Everything here is plain NumPy, so that no method under test has a say in how a graph is read.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

PLANETOID = ("Cora", "CiteSeer", "PubMed")
TU = (
    "MUTAG",
    "PTC_MR",
    "NCI1",
    "NCI109",
    "PROTEINS",
    "ENZYMES",
    "DD",
    "IMDB-BINARY",
    "IMDB-MULTI",
    "COLLAB",
)


class MissingDataError(FileNotFoundError):
    """A dataset is not below the data root."""


@dataclass(frozen=True)
class Edges:
    """An undirected graph without loops: every edge stands once in ``pairs``."""

    name: str
    num_nodes: int
    pairs: IntArray  # (m, 2)
    weights: FloatArray | None = None

    @property
    def num_edges(self) -> int:
        return len(self.pairs)


# ---------------------------------------------------------------------------------------------
# files


def data_root(argument: str | None) -> Path | None:
    """The folder of ``--data``, else of the environment variable SEPOOL_DATA, else None."""
    chosen = argument or os.environ.get("SEPOOL_DATA")
    return Path(chosen) if chosen else None


def _find(root: Path | None, *parts: str) -> Path:
    path = Path(*parts) if root is None else root.joinpath(*parts)
    if root is None or not path.exists():
        where = "no data folder was given" if root is None else f"{path} does not exist"
        raise MissingDataError(
            f"{parts[1]}: {where}. Pass --data ROOT or set SEPOOL_DATA; ROOT holds TU/<NAME>/raw "
            "and Planetoid/<Name>/raw, the folders that PyTorch Geometric's datasets leave behind."
        )
    return path


def planetoid(name: str, root: Path | None) -> Edges:
    """Cora, CiteSeer or PubMed (without loops and repeated links) from Planetoid's raw file."""
    path = _find(root, "Planetoid", name, "raw", f"ind.{name.lower()}.graph")
    with path.open("rb") as file:
        neighbours: dict[int, list[int]] = pickle.load(file, encoding="latin1")  # its format
    source = np.repeat(list(neighbours), [len(row) for row in neighbours.values()])
    target = np.concatenate([np.asarray(row, np.int64) for row in neighbours.values()])
    return Edges(name, max(neighbours) + 1, simple_pairs(source, target))


def planetoid_classes(name: str, root: Path | None) -> IntArray:
    """The class of every node of `planetoid`, -1 for nodes without one."""

    def read(suffix: str) -> Path:
        return _find(root, "Planetoid", name, "raw", f"ind.{name.lower()}.{suffix}")

    rows = []
    for suffix in ("ally", "ty"):
        with read(suffix).open("rb") as file:
            rows.append(pickle.load(file, encoding="latin1").argmax(axis=1))  # one-hot rows
    test = _numbers(read("test.index"))  # nodes of the rows of ty, the last ones, in another order
    classes = np.full(max(len(rows[0]), test.max() + 1), -1)
    classes[: len(rows[0])] = rows[0]
    classes[test] = rows[1]
    return classes


def tu_dataset(name: str, root: Path | None) -> list[Edges]:
    """All graphs of a TU dataset, in the dataset's order, with local node ids."""
    folder = _find(root, "TU", name, "raw", f"{name}_A.txt").parent
    owner = _numbers(folder / f"{name}_graph_indicator.txt") - 1
    arcs = _numbers(folder / f"{name}_A.txt").reshape(-1, 2) - 1
    sizes = np.bincount(owner)
    first = np.concatenate([[0], np.cumsum(sizes)])
    pairs = simple_pairs(arcs[:, 0], arcs[:, 1])
    home = owner[pairs[:, 0]]
    pairs -= first[home][:, None]
    bounds = np.searchsorted(home, np.arange(len(sizes) + 1))
    return [
        Edges(f"{name}[{i}]", int(sizes[i]), pairs[bounds[i] : bounds[i + 1]])
        for i in range(len(sizes))
    ]


def _numbers(path: Path) -> IntArray:
    return np.fromstring(path.read_text().replace(",", " "), dtype=np.int64, sep=" ")


def simple_pairs(u: IntArray, v: IntArray) -> IntArray:
    """Every unordered pair once, sorted, without loops."""
    low, high = np.minimum(u, v).astype(np.int64), np.maximum(u, v).astype(np.int64)
    span = int(high.max(initial=0)) + 1
    keys = np.unique((low * span + high)[low != high])
    return np.stack([keys // span, keys % span], axis=1)


# ---------------------------------------------------------------------------------------------
# small graphs


def karate(*, weighted: bool = False) -> Edges:
    """Zachary's karate club; weights are the number of contexts in which two members met."""
    import networkx as nx

    return _from_networkx("karate", nx.karate_club_graph(), weighted)


def les_miserables(*, weighted: bool = False) -> Edges:
    """Co-appearances in Les Miserables; weights are their number."""
    import networkx as nx

    return _from_networkx("Les Miserables", nx.les_miserables_graph(), weighted)


def _from_networkx(name: str, graph: Any, weighted: bool) -> Edges:
    index = {node: i for i, node in enumerate(graph)}
    pairs = np.array([(index[u], index[v]) for u, v in graph.edges()], np.int64)
    if not weighted:
        return Edges(name, len(index), pairs)
    weights = np.array([weight for *_, weight in graph.edges(data="weight")], np.float64)
    return Edges(f"{name}, weighted", len(index), pairs, weights)


def ring(n: int) -> Edges:
    nodes = np.arange(n)
    return Edges(f"ring of {n}", n, np.stack([nodes, np.roll(nodes, -1)], axis=1))


def grid(rows: int, columns: int) -> Edges:
    ids = np.arange(rows * columns).reshape(rows, columns)
    down = np.stack([ids[:-1].ravel(), ids[1:].ravel()], axis=1)
    right = np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], axis=1)
    return Edges(f"{rows}x{columns} grid", rows * columns, np.concatenate([down, right]))


def sbm(sizes: list[int], inside: float, outside: float, seed: int) -> Edges:
    """A stochastic block model drawn pair by pair (a few thousand nodes at most)."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    u, v = np.triu_indices(len(block), 1)
    keep = rng.random(len(u)) < np.where(block[u] == block[v], inside, outside)
    name = f"SBM {len(sizes)}x{sizes[0]}, {inside:g}/{outside:g}"
    return Edges(name, len(block), np.stack([u[keep], v[keep]], axis=1).astype(np.int64))


def molecules(count: int, n: int, seed: int) -> list[Edges]:
    """Random molecule-like graphs: rings of five or six nodes, tied by bonds, with side chains."""
    rng = np.random.default_rng(seed)
    return [Edges(f"molecule {i}", n, _molecule(n, rng)) for i in range(count)]


def _molecule(n: int, rng: np.random.Generator) -> IntArray:
    bonds: list[tuple[int, int]] = []
    size = 0
    for _ in range(int(rng.integers(1, 4))):
        length = int(rng.integers(5, 7))
        if size + length > n:
            break
        bonds += [(size + i, size + (i + 1) % length) for i in range(length)]
        if size:
            bonds.append((int(rng.integers(size)), size))
        size += length
    bonds += [(int(rng.integers(max(0, v - 3), v)), v) for v in range(max(size, 1), n)]
    return np.array(bonds, np.int64)


# ---------------------------------------------------------------------------------------------
# what the entropy and speed scripts walk through


def tu_datasets(names: Iterable[str], root: Path | None) -> Iterator[tuple[str, list[Edges]]]:
    """The datasets below the data root, without graphs without edges; names those that are not."""
    for name in names:
        try:
            yield name, [graph for graph in tu_dataset(name, root) if graph.num_edges]
        except MissingDataError as error:
            print(error)


def single_graphs(root: Path | None, *, quick: bool) -> Iterator[Edges]:
    """Karate to PubMed and the block models; names the datasets that are absent."""
    for weighted in (False, True):
        yield karate(weighted=weighted)
        yield les_miserables(weighted=weighted)
    yield grid(30, 30)
    yield ring(200)
    yield sbm([50] * 4, 0.2, 0.02, seed=1)
    yield sbm([100] * 10, 0.1, 0.005, seed=2)
    if not quick:
        yield sbm([20] * 50, 0.5, 0.004, seed=3)
        yield sbm([400] * 5, 0.03, 0.005, seed=4)
    for name in PLANETOID[:1] if quick else PLANETOID:
        try:
            yield planetoid(name, root)
        except MissingDataError as error:
            print(error)
