"""Clusters of the first pooling, of trained models and of coding trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sepool.pyg.format import Forest
from sepool.segments import pointers
from sepool_experiments.batches.store import Batch
from sepool_experiments.engine.lockstep import Lockstep
from sepool_experiments.engine.trainer import make_lockstep
from sepool_experiments.models.graphs.diffpool import DiffPool
from sepool_experiments.models.graphs.mincutpool import MinCutPool
from sepool_experiments.models.graphs.model import apply, start
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit

Labels = NDArray[np.int64]


class ClusterLockstep(Lockstep):
    """`Lockstep` with the clusters of every finished replica, under its best weights."""

    def __init__(self, *args: Any) -> None:
        self.labels: dict[str, Labels] = {}
        super().__init__(*args)

    def _results(self, replicas: list[int], epoch: int) -> list[Result]:
        now = self.weights.clone()
        self.weights.copy_(self.best)
        labels = self.assign()
        self.weights.copy_(now)
        self.labels.update((self.units[i].key, labels[i]) for i in replicas)
        return super()._results(replicas, epoch)

    def assign(self) -> Labels:
        """Return the most likely cluster of every node of the dataset, one row a replica."""
        self.model.eval()
        ids = torch.arange(self.store.num_graphs, device=self.device).repeat(len(self.units), 1)
        with torch.no_grad():
            batch = self.store.batch(ids, self.store.capacity(ids))
            scores = first_scores(self.model, batch)
        nodes = int(self.store.graphs.nodes.sum())  # the rest is padding
        best = scores.view(len(ids), -1, scores.size(1))[:, :nodes].argmax(2)
        return np.asarray(best.cpu().numpy(), np.int64)


def first_scores(model: DiffPool | MinCutPool, batch: Batch) -> Tensor:
    """Return the logits of the first assignment, for every node of a batch."""
    assign, _ = model.assigns
    if isinstance(model, DiffPool):
        return start(assign, batch, relu=False)
    return apply(assign, start(model.convs[0], batch, relu=True), batch)


def learn_clusters(
    units: Sequence[Unit], protocol: Protocol, root: Path, device: str
) -> Iterator[tuple[Result, Labels]]:
    """Train classifiers, and yield each result with the clusters of the first pooling."""
    plain = make_lockstep(units, protocol, root, device)
    assert isinstance(plain, Lockstep)
    lockstep = ClusterLockstep(plain.units, plain.protocol, plain.store, plain.split, plain.build)
    for result in lockstep.run():
        yield result, lockstep.labels.pop(result.unit.key)


def forest_labels(forest: Forest, level: int = 1) -> Labels:
    """Return the cluster of every leaf on a level, numbered within its tree."""
    starts = pointers(forest.counts[:, :-1].sum(axis=1))
    parts = []
    for begin, counts in zip(starts, forest.counts, strict=False):
        ends = begin + pointers(counts[:-1])
        labels = np.arange(counts[0])
        for i in range(level):
            labels = forest.parent[ends[i] : ends[i + 1]][labels]
        parts.append(labels.astype(np.int64))
    return np.concatenate(parts)
