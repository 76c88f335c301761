"""Graph classification of many replicas in lockstep, each as it would train alone.

Every replica draws its own batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from sepool_experiments.batches.slicing import Capacity
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.engine.cuda_graphs import capture
from sepool_experiments.engine.descent import Build, Descent
from sepool_experiments.engine.launch_lock import LAUNCH_LOCK
from sepool_experiments.layers.dropout import mix
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Unit

WARM_UP = 50  # epochs
MIN_EVALUATED = 128  # graphs at a time: with fewer a GPU waits for launches


@dataclass(frozen=True)
class Split:
    """Graphs for training, validation and test, one row a replica; ``num_graphs`` is padding."""

    train: Tensor
    val: Tensor
    test: Tensor

    def select(self, rows: Tensor) -> Split:
        """Restrict to some replicas."""
        return Split(self.train[rows], self.val[rows], self.test[rows])


class Lockstep(Descent):
    """The trainings of units that differ in fold, seed, dropout, schedule and rates alone."""

    per_replica = (*Descent.per_replica, "cosine", "val_loss")
    split: Split
    batch_capacity: Capacity | None
    graph_of_check: torch.cuda.CUDAGraph | None

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
        """Train and validate for one epoch."""
        self.train_epoch(epoch + 1)
        if self.captures:
            if self.graph_of_check is None:
                self._synchronize()
                self.graph_of_check = capture(self.check, self._check_state(), self.side_stream)
            self.graph_of_check.replay()
        else:
            self.check()
        self._synchronize()
        if self.curves:
            with LAUNCH_LOCK.launching():
                train, val = self.train_loss.tolist(), self.val_loss.tolist()
            for i, curve in self.curves.items():
                curve.append((train[i], val[i]))
        return epoch + 1

    def check(self) -> None:
        """Validate every replica without host synchronisation."""
        self.epoch += 1
        loss, accuracy = self.evaluate(self.split.val)
        self._track_best(self.epoch, loss, accuracy)
        self.val_loss.copy_(loss)

    def _check_state(self) -> list[Tensor]:
        """Tensors that `check` modifies."""
        return [
            *(self.epoch, self.val_loss, self.best, self.best_buffers),
            *(self.best_loss, self.best_accuracy, self.best_epoch),
        ]

    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean loss and accuracy of every replica on its graphs."""
        self.model.eval()
        loss = torch.zeros(len(ids), device=self.device)
        correct = torch.zeros_like(loss)
        with torch.no_grad():
            for part in torch.split(ids, max(self.batch_size, MIN_EVALUATED), dim=1):
                batch = self.store.batch(part, self._capacity_of(part))
                logits = batch.by_replica(self.model(batch))
                loss += losses(logits, batch.y, batch.graph_mask).sum(1)
                correct += ((logits.argmax(-1) == batch.y) & batch.graph_mask).sum(1)
        count = (ids < self.store.num_graphs).sum(1)
        return loss / count, correct / count

    def _capacity_of(self, ids: Tensor) -> Capacity:
        """Capacity for evaluated graphs, which are the same after every epoch."""
        if ids.data_ptr() not in self.capacities:
            self.capacities[ids.data_ptr()] = self.store.capacity(ids)
        return self.capacities[ids.data_ptr()]

    def train_epoch(self, epoch: int) -> None:
        """Train every replica for one epoch."""
        with LAUNCH_LOCK.launching():
            ids = self._draw(epoch)
            needed = self.store.capacity(ids)
            if self.batch_capacity is None or any(map(_exceeds, needed, self.batch_capacity)):
                self.batch_capacity = self.store.capacity(ids, spare=0.03)
                self._reset_capture()
        self.model.train()
        if self.captures and self.graph_of_step is None:
            self._capture_step(ids[0])
        if not self.steps_done:
            self.train_loss.zero_()
        for part in ids[self.steps_done :]:
            self._step(part)
            self.steps_done += 1
            self.checkpoint.save(self)
        self.steps_done = 0
        self.train_loss /= len(ids)

    def _draw(self, epoch: int) -> Tensor:
        """Draw the graphs of every step and replica of an epoch."""
        train, size = self.split.train, self.batch_size
        steps = self.protocol.steps_for(self.units[0].dataset)
        count = steps or 1
        step_numbers = torch.arange(count, device=self.device) + epoch * count
        keys = mix(mix(self.keys) + step_numbers.unsqueeze(1) * 0x9E3779B1)  # steps x replicas
        positions = torch.arange(train.size(1), device=self.device)
        score = mix(keys.unsqueeze(-1) + positions * 0x85EBCA6B) * 2**16 + positions  # all distinct
        score = torch.where(train < self.store.num_graphs, score, 2**62)
        if steps:
            drawn = score.topk(size, largest=False).indices
            return train.expand(count, -1, -1).gather(2, drawn)
        order = train.gather(1, score[0].argsort(1))
        order = F.pad(order, (0, -order.size(1) % size), value=self.store.num_graphs)
        return order.view(len(train), -1, size).transpose(0, 1)

    def _step(self, ids: Tensor) -> None:
        """Train every replica for one step, on a GPU by replaying the captured step."""
        if not self.captures:
            self._train_on(ids)
            return
        assert self.graph_of_step is not None
        self.captured_ids.copy_(ids)
        self.graph_of_step.replay()

    def _capture_step(self, ids: Tensor) -> None:
        self.captured_ids = ids.clone()
        state = [self.weights, self.buffers, self.moments, self.steps, self.train_loss]
        self.graph_of_step = capture(
            lambda: self._train_on(self.captured_ids), state, self.side_stream
        )

    def _train_on(self, ids: Tensor) -> None:
        assert self.batch_capacity is not None
        self._begin_step()
        batch = self.store.batch(ids, self.batch_capacity)
        logits = batch.by_replica(self.model(batch))
        loss = losses(logits, batch.y, batch.graph_mask).sum(1) / batch.graph_mask.sum(1)
        auxiliary = getattr(self.model, "auxiliary", None)
        self._end_step(loss if auxiliary is None else loss + auxiliary)
        self.train_loss += loss.detach()

    def _rate_now(self) -> Tensor:
        """Return the learning rates: constant, or a linear warm-up and half a cosine."""
        steps = self.protocol.steps_for(self.units[0].dataset)
        done = (self.steps - 1) / (steps or math.ceil(self.split.train.size(1) / self.batch_size))
        progress = ((done - WARM_UP) / (self.protocol.epochs - WARM_UP)).clamp(0, 1)
        cosine = (1 + torch.cos(math.pi * progress)) / 2
        factor = torch.where(done < WARM_UP, done / WARM_UP, cosine)
        return torch.where(self.cosine, self.lr * factor, self.lr)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and numbers that the rest of the training depends on."""
        tensors, numbers = super().state()
        tensors |= {f"split.{part}": ids for part, ids in vars(self.split).items()}
        return tensors, {
            **numbers,
            "batch_capacity": self.batch_capacity,
            "curves": list(self.curves.items()),
        }

    def load_state(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue from a state of the same units."""
        parts = {part: tensors[f"split.{part}"].to(self.device) for part in vars(self.split)}
        self.split = Split(**parts)
        self.batch_size = min(self.units[0].config.batch, self.split.train.size(1))
        super().load_state(tensors, numbers)
        self.curves = {i: [(a, b) for a, b in curve] for i, curve in numbers["curves"]}
        if numbers["batch_capacity"] is not None:
            self.batch_capacity = Capacity(*map(tuple, numbers["batch_capacity"]))

    def _saved(self) -> tuple[str, ...]:
        return (*super()._saved(), "epoch")

    def curve(self, i: int, epochs: int) -> tuple[tuple[float, float], ...] | None:
        """Return the losses of a replica, if recorded."""
        return tuple(self.curves[i][:epochs]) if i in self.curves else None

    def _select(self, running: list[int]) -> None:
        self.curves = {new: self.curves[i] for new, i in enumerate(running) if i in self.curves}
        super()._select(running)

    def _place_model(self) -> None:
        super()._place_model()
        self.graph_of_check = None
        self.batch_capacity = None
        self.capacities: dict[int, Capacity] = {}


def _exceeds(need: tuple[int, ...], have: tuple[int, ...]) -> bool:
    return any(a > b for a, b in zip(need, have, strict=True))


def losses(logits: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Return the cross entropy of every graph, one row a replica; 0 for padding."""
    flat = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return flat.view_as(y) * mask
