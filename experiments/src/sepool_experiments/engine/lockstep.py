"""Many trainings on graphs as one: replicas in lockstep, each as it would train alone.

Every replica draws its own batches; `sepool_experiments.engine.descent` has what follows from a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sepool_experiments.batches.slicing import Shape
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.engine.cuda_graphs import record
from sepool_experiments.engine.descent import Build, Descent
from sepool_experiments.engine.launch_lock import GATE
from sepool_experiments.engine.loss import losses, mean_losses
from sepool_experiments.engine.schedule import rates_at
from sepool_experiments.layers.dropout import mix
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Unit

WARM_UP = 50
EVALUATED = 128  # graphs at a time, at least: fewer would leave a GPU waiting for launches


@dataclass(frozen=True)
class Split:
    """The graphs that train, validate and test, one row a replica; ``num_graphs`` is no graph."""

    train: Tensor
    val: Tensor
    test: Tensor

    def keep(self, rows: Tensor) -> Split:
        """That of some replicas."""
        return Split(self.train[rows], self.val[rows], self.test[rows])


class Lockstep(Descent):
    """The trainings of some units that differ in fold, seed, dropout, schedule and rates alone.

    Args:
        units: what is trained.
        protocol: by which rules.
        store: the dataset, on the device to train on.
        split: the graphs of every unit.
        build: makes the model, for a number of replicas.
    """

    per_replica = (*Descent.per_replica, "cosine", "val_loss")
    split: Split
    shape: Shape | None
    recorded_check: torch.cuda.CUDAGraph | None

    def __init__(
        self,
        units: Sequence[Unit],
        protocol: Protocol,
        store: GraphStore,
        split: Split,
        build: Build,
    ) -> None:
        self.store = store
        self.batch_size = min(units[0].config.batch, split.train.size(1))
        self.curves: dict[int, list[tuple[float, float]]] = {
            i: [] for i, unit in enumerate(units) if unit.keeps_curve
        }
        cosine = [[unit.config.schedule == "cosine"] for unit in units]
        self.cosine = torch.tensor(cosine, device=store.device)
        self.val_loss = torch.zeros(len(units), device=store.device)
        self.epoch = torch.zeros((), dtype=torch.int64, device=store.device)
        super().__init__(units, protocol, split, build, store.device)

    def advance(self, epoch: int) -> int:
        """One epoch."""
        self.train_epoch(epoch + 1)
        if self.records:
            if self.recorded_check is None:
                self._wait()
                self.recorded_check = record(self.check, self._noted(), self.side)
            self.recorded_check.replay()
        else:
            self.check()
        self._wait()
        if self.curves:
            with GATE.launching():
                train, val = self.train_loss.tolist(), self.val_loss.tolist()
            for i, curve in self.curves.items():
                curve.append((train[i], val[i]))
        return epoch + 1

    def check(self) -> None:
        """Validates every replica, without a word to the host."""
        self.epoch += 1
        loss, accuracy = self.evaluate(self.split.val)
        self._note(self.epoch, loss, accuracy)
        self.val_loss.copy_(loss)

    def _noted(self) -> list[Tensor]:
        """What `check` changes."""
        return [
            *(self.epoch, self.val_loss, self.best, self.best_seen),
            *(self.best_loss, self.best_accuracy, self.best_epoch),
        ]

    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Mean loss and accuracy of every replica on its graphs."""
        self.model.eval()
        loss = torch.zeros(len(ids), device=self.device)
        right = torch.zeros_like(loss)
        with torch.no_grad():
            for part in torch.split(ids, max(self.batch_size, EVALUATED), dim=1):
                batch = self.store.batch(part, self._shape_of(part))
                logits = batch.by_replica(self.model(batch))
                loss += losses(logits, batch.y, batch.graph_mask).sum(1)
                right += ((logits.argmax(-1) == batch.y) & batch.graph_mask).sum(1)
        count = (ids < self.store.num_graphs).sum(1)
        return loss / count, right / count

    def _shape_of(self, ids: Tensor) -> Shape:
        """The room for graphs that are evaluated, which are the same after every epoch."""
        if ids.data_ptr() not in self.shapes:
            self.shapes[ids.data_ptr()] = self.store.shape(ids)
        return self.shapes[ids.data_ptr()]

    def train_epoch(self, epoch: int) -> None:
        """One epoch of every replica."""
        with GATE.launching():
            ids = self._draw(epoch)
            need = self.store.shape(ids)
            if self.shape is None or any(map(_more, need, self.shape)):
                self.shape = self.store.shape(ids, spare=0.03)
                self._forget_step()
        self.model.train()
        if self.records and self.recorded is None:
            self._record_on(ids[0])
        self.train_loss.zero_()
        for part in ids:
            self._step(part)
        self.train_loss /= len(ids)

    def _draw(self, epoch: int) -> Tensor:
        """The graphs of every step and replica of an epoch."""
        train, size = self.split.train, self.batch_size
        steps = self.protocol.steps_for(self.units[0].dataset)
        count = steps or 1
        turns = torch.arange(count, device=self.device) + epoch * count
        keys = mix(mix(self.keys) + turns.unsqueeze(1) * 0x9E3779B1)  # steps x replicas
        places = torch.arange(train.size(1), device=self.device)
        score = mix(keys.unsqueeze(-1) + places * 0x85EBCA6B) * 2**16 + places  # no two are equal
        score = torch.where(train < self.store.num_graphs, score, 2**62)
        if steps:
            chosen = score.topk(size, largest=False).indices
            return train.expand(count, -1, -1).gather(2, chosen)
        order = train.gather(1, score[0].argsort(1))
        order = F.pad(order, (0, -order.size(1) % size), value=self.store.num_graphs)
        return order.view(len(train), -1, size).transpose(0, 1)

    def _step(self, ids: Tensor) -> None:
        """One step of every replica; on a GPU it is recorded once and played back afterwards."""
        if not self.records:
            self._train_on(ids)
            return
        assert self.recorded is not None
        self.recorded_ids.copy_(ids)
        self.recorded.replay()

    def _record_on(self, ids: Tensor) -> None:
        self.recorded_ids = ids.clone()
        state = [self.weights, self.seen, self.moments, self.steps, self.train_loss]
        self.recorded = record(lambda: self._train_on(self.recorded_ids), state, self.side)

    def _train_on(self, ids: Tensor) -> None:
        assert self.shape is not None
        self._begin_step()
        batch = self.store.batch(ids, self.shape)
        loss = mean_losses(self.model(batch), batch.y, batch.graph_mask)
        auxiliary = getattr(self.model, "auxiliary", None)
        self._end_step(loss if auxiliary is None else loss + auxiliary)
        self.train_loss += loss.detach()

    def _rate_now(self) -> Tensor:
        """The learning rates: constant, or up for 50 epochs and down in half a cosine."""
        times = self._steps_an_epoch(), WARM_UP, self.protocol.epochs
        return rates_at(self.steps, self.lr, self.cosine, *times)

    def _steps_an_epoch(self) -> int:
        steps = self.protocol.steps_for(self.units[0].dataset)
        return steps or math.ceil(self.split.train.size(1) / self.batch_size)

    def curve(self, i: int, epochs: int) -> tuple[tuple[float, float], ...] | None:
        """The losses of a replica, where they were kept."""
        return tuple(self.curves[i][:epochs]) if i in self.curves else None

    def _keep(self, left: list[int]) -> None:
        self.curves = {new: self.curves[i] for new, i in enumerate(left) if i in self.curves}
        super()._keep(left)

    def _place(self) -> None:
        super()._place()
        self.recorded_check = None
        self.shape = None
        self.shapes: dict[int, Shape] = {}


def _more(need: tuple[int, ...], have: tuple[int, ...]) -> bool:
    return any(a > b for a, b in zip(need, have, strict=True))
