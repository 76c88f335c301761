"""Small sets of graphs with and without random features, and how PyG would have their batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.utils import to_dense_adj, to_dense_batch

from sepool.pyg.format import EdgeBlocks, Forest
from sepool_experiments.batches.store import Batch, GraphStore
from sepool_experiments.data.graphs import GraphSet
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.models.systems import SYSTEMS
from sepool_experiments.protocols.units import Config

BASELINES = [s.name for s in SYSTEMS.values() if s.task == "graphs" and not s.uses_tree]
HIDDEN, NODES = 8, 20


@dataclass(frozen=True)
class RandomSet(GraphSet):
    """Graphs whose features are given."""

    values: np.ndarray = field(kw_only=True)

    def features(self) -> np.ndarray:
        return self.values


def graph_set(matrices: list[np.ndarray], y: list[int], values: np.ndarray | None = None):
    """From one adjacency matrix a graph; features are one-hot degrees where none are given."""
    pairs = [np.argwhere(matrix) for matrix in matrices]
    rows = np.concatenate(pairs)
    edges = EdgeBlocks(np.array([len(p) for p in pairs]), rows[:, 0], rows[:, 1])
    nodes = np.array([len(matrix) for matrix in matrices])
    parts = ("toy", nodes, edges, None, np.array(y))
    return GraphSet(*parts) if values is None else RandomSet(*parts, values=values)


def random_matrices(count: int, seed: int = 0) -> list[np.ndarray]:
    """Random graphs of 3 to 24 nodes; one has a single node, one has no edge."""
    draw = np.random.default_rng(seed)
    sizes = [1, 4, *draw.integers(3, 25, count - 2)]
    matrices = []
    for i, n in enumerate(sizes):
        upper = np.triu(draw.random((n, n)) < (0.0 if i < 2 else 0.4), 1)
        upper[0, 1:2] |= i > 1
        matrices.append(upper | upper.T)
    return matrices


def random_set(count: int = 12, seed: int = 0, width: int = 5) -> RandomSet:
    matrices, draw = random_matrices(count, seed), np.random.default_rng(seed + 1)
    total = sum(map(len, matrices))
    values = draw.normal(size=(total, width)).astype(np.float32)
    return graph_set(matrices, [i % 2 for i in range(count)], values)


def permuted(graphs: RandomSet) -> RandomSet:
    """The same graphs, the nodes of each in another order."""
    draw, starts = np.random.default_rng(7), np.cumsum([0, *graphs.nodes])
    pairs = np.cumsum([0, *graphs.edges.counts])
    matrices, values = [], []
    for i, n in enumerate(graphs.nodes):
        matrix, order = np.zeros((n, n), bool), draw.permutation(n)
        chosen = slice(pairs[i], pairs[i + 1])
        matrix[graphs.edges.row[chosen], graphs.edges.col[chosen]] = True
        matrices.append(matrix[order][:, order])
        values.append(graphs.values[starts[i] : starts[i + 1]][order])
    return graph_set(matrices, graphs.y.tolist(), np.concatenate(values))


def store_of(
    graphs: GraphSet, system: str = "GCN", link: bool = False, row_indexed: bool = False
) -> GraphStore:
    counts = np.column_stack([graphs.nodes, np.ones_like(graphs.nodes)])
    forest = Forest(counts, np.zeros(graphs.nodes.sum(), np.int32))
    conv = CONVS[SYSTEMS[system].conv]
    return GraphStore(graphs, forest, conv, (0, 0, 0), False, link, row_indexed=row_indexed)


def batch_of(store: GraphStore, ids: list[list[int]] | None = None) -> Batch:
    """The graphs of every replica; all of them, once, by default."""
    chosen = torch.tensor([list(range(store.num_graphs))] if ids is None else ids)
    return store.batch(chosen, store.capacity(chosen, spare=0.2))


def build(system: str, store: GraphStore, replicas: int | None = 1, **settings):
    """A model with other weights in every replica, biases too."""
    config = Config(hidden=HIDDEN, **settings)
    torch.manual_seed(0)
    model = SYSTEMS[system].build(
        store.num_features, store.num_classes, config, replicas, nodes=NODES
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


class Plain(NamedTuple):
    """The graphs of one replica as PyG has them."""

    edges: Tensor
    batch: Tensor
    graphs: int


def without_padding(batch: Batch) -> Plain:
    a, count = batch.operators[0].adjacency, batch.graph_mask.size(1)
    nodes = int(batch.levels.graph_ptr(0)[count])
    edge = (a.weight != 0) & (a.row != a.index)
    return Plain(torch.stack([a.index[edge], a.row[edge]]), batch.levels.batch(0)[:nodes], count)


@dataclass
class Dense:
    """A batch as PyG's dense operators take it."""

    x: Tensor
    adjacency: Tensor
    mask: Tensor

    @classmethod
    def of(cls, batch: Batch, x: Tensor) -> Dense:
        plain = without_padding(batch)
        dense, mask = to_dense_batch(x[: len(plain.batch)], plain.batch, batch_size=plain.graphs)
        return cls(dense, to_dense_adj(plain.edges, plain.batch, batch_size=plain.graphs), mask)
