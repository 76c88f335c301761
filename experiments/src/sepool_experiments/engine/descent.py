"""What all trainings in lockstep share, whatever they classify: weights, Adam, stopping, results.

All weights of a replica lie in one row of one tensor, so that clipping, Adam, the best weights so
far and the removal of finished replicas are a few operations on that tensor. What is random depends
on a unit's seed and fold alone: its first weights, its batches and what dropout drops.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sepool_experiments.engine.adam import adam_step
from sepool_experiments.engine.launch_lock import GATE
from sepool_experiments.engine.schedule import keys_at
from sepool_experiments.engine.skip_init import Undrawn
from sepool_experiments.layers.dropout import Dropout, Keyed
from sepool_experiments.protocols import catalog as protocols
from sepool_experiments.protocols.units import Result, Unit

Build = Callable[[int], nn.Module]
DRAWING = threading.Lock()  # PyTorch has one source of random numbers for all threads
MANY = 64  # replicas; fewer leave a GPU waiting for launches, so that dropping some gains little


class Parts(Protocol):
    """What is validated and tested on, and how to go on with some replicas."""

    @property
    def val(self) -> Tensor: ...

    @property
    def test(self) -> Tensor: ...

    def keep(self, rows: Tensor) -> Any:
        """That of some replicas."""


class Descent(ABC):
    """The trainings of some units as one model, without what is trained on.

    Args:
        units: what is trained.
        protocol: by which rules.
        split: what validates and tests.
        build: makes the model, for a number of replicas.
        device: where.
    """

    per_replica: tuple[str, ...] = (
        *("keys", "lr", "decay", "rate", "patience", "weights", "best", "seen", "best_seen"),
        *("best_loss", "best_accuracy", "best_epoch", "train_loss"),
    )
    split: Any

    def __init__(
        self,
        units: Sequence[Unit],
        protocol: protocols.Protocol,
        split: Parts,
        build: Build,
        device: torch.device | str,
    ) -> None:
        self.units, self.protocol, self.split = list(units), protocol, split
        self.build, self.device = build, torch.device(device)
        self.spent = [0.0] * len(units)
        self.side: Any = None
        if self.device.type == "cuda":
            first = torch.cuda.current_stream(self.device).priority
            self.side = torch.cuda.Stream(self.device, first)  # type: ignore[no-untyped-call]
        self.keys = torch.tensor([key_of(unit) for unit in units], device=self.device)
        column = [[getattr(u.config, name) for u in units] for name in ("lr", "weight_decay")]
        self.lr, self.decay = torch.tensor(column, device=self.device).unsqueeze(-1)
        self.rate = torch.tensor([u.config.dropout for u in units], device=self.device)
        patience = [dict(u.config.extra).get("patience", protocol.patience) for u in units]
        self.patience = torch.tensor(patience, device=self.device)
        self.weights = first_weights(self.keys, build)
        self.moments = torch.zeros(2, *self.weights.shape, device=self.device)
        self.best = self.weights.clone()
        self.seen = first_buffers(len(units), build).to(self.device)
        self.best_seen = self.seen.clone()
        self.best_loss = torch.full((len(units),), math.inf, device=self.device)
        self.best_accuracy = torch.zeros_like(self.best_loss)
        self.best_epoch = torch.zeros(len(units), dtype=torch.int64, device=self.device)
        self.steps = torch.zeros((), dtype=torch.int64, device=self.device)
        self.train_loss = torch.zeros(len(units), device=self.device)
        self.recorded: torch.cuda.CUDAGraph | None = None
        self._place()

    def run(self) -> Iterator[Result]:
        """Trains until the last replica has stopped; results come as replicas stop."""
        last, epoch, began, spent = self.protocol.epochs, 0, perf_counter(), 0.0
        while epoch < last:
            epoch = self.advance(epoch)
            with GATE.launching():
                over = (epoch - self.best_epoch >= self.patience).tolist()
            if epoch == last:
                over = [True] * len(over)
            # Some that have stopped cost less than a new start for every replica that stops.
            if sum(over) >= max(1, len(over) // (4 if len(over) > MANY else 2)):
                share = (perf_counter() - began - spent) / len(over)
                spent = perf_counter() - began
                with GATE.launching():
                    results = self._finish(over, epoch, share)
                yield from results
                if all(over):
                    return

    @abstractmethod
    def advance(self, epoch: int) -> int:
        """Trains on from this epoch, notes what every epoch gave, and says which was the last."""

    @abstractmethod
    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Mean loss and accuracy of every replica."""

    @abstractmethod
    def curve(self, i: int, epochs: int) -> tuple[tuple[float, float], ...] | None:
        """The losses of a replica, where they were kept."""

    def _wait(self) -> None:
        """Waits for the device before anything is launched that others must not meddle with."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def _forget_step(self) -> None:
        self.recorded = None

    def _begin_step(self) -> None:
        self.steps += 1
        keys = keys_at(self.keys, self.steps) if self.keyed else None
        for layer in self.keyed:
            layer.keys = keys

    def _end_step(self, loss: Tensor) -> None:
        """Follows the gradient of these losses, one a replica."""
        parts = torch.autograd.grad(
            loss, list(self.model.parameters()), self.ones, materialize_grads=True
        )
        # One launch for all; to add to the gradient of every parameter would be one for each.
        torch.cat([part.reshape(len(loss), -1) for part in parts], 1, out=self.gradient)
        with torch.no_grad():
            self._descend()

    def _descend(self) -> None:
        """Clips the gradient of every replica, then a step of Adam."""
        rate, clip = self._rate_now(), self.protocol.clip
        norm = self.gradient.norm(dim=1, keepdim=True) if math.isfinite(clip) else None
        state = self.weights, self.gradient, self.moments, self.steps, rate
        for part, decay in self.decays:
            adam_step(*state, decay, norm, clip, part)

    def _rate_now(self) -> Tensor:
        """The learning rates."""
        rates: Tensor = self.lr
        return rates

    def _note(self, epoch: int | Tensor, loss: Tensor, accuracy: Tensor) -> None:
        """Keeps the weights of every replica whose validation loss is the lowest so far.

        A replica whose patience has ended may still be here; nothing that it finds now counts.
        """
        better = (loss < self.best_loss) & (epoch - self.best_epoch <= self.patience)
        torch.where(better, loss, self.best_loss, out=self.best_loss)
        torch.where(better, accuracy, self.best_accuracy, out=self.best_accuracy)
        now = torch.as_tensor(epoch, device=self.device)
        torch.where(better, now, self.best_epoch, out=self.best_epoch)
        torch.where(better.unsqueeze(1), self.weights, self.best, out=self.best)
        torch.where(better.unsqueeze(1), self.seen, self.best_seen, out=self.best_seen)

    def _finish(self, over: list[bool], epoch: int, share: float) -> list[Result]:
        """Tests the replicas that stopped, with their best weights, and goes on without them."""
        now, seen = self.weights.clone(), self.seen.clone()
        self.weights.copy_(self.best)
        self.seen.copy_(self.best_seen)
        _, tested = self.evaluate(self.split.test)
        self.weights.copy_(now)
        self.seen.copy_(seen)
        columns = (self.best_loss, self.best_accuracy, tested)
        measured = list(zip(*(column.tolist() for column in columns), strict=True))
        best, patience = self.best_epoch.tolist(), self.patience.tolist()
        results = []
        for i, unit in enumerate(self.units):
            self.spent[i] += share
            if over[i]:
                ran, (loss, val, test) = min(epoch, best[i] + patience[i]), measured[i]
                curve = self.curve(i, ran)
                results.append(Result(unit, ran, best[i], loss, val, test, self.spent[i], curve))
        if not all(over):
            self._keep([i for i, stopped in enumerate(over) if not stopped])
        return results

    def _keep(self, left: list[int]) -> None:
        rows = torch.tensor(left, device=self.device)
        self.units = [self.units[i] for i in left]
        self.spent = [self.spent[i] for i in left]
        self.split = self.split.keep(rows)
        for name in self.per_replica:
            setattr(self, name, getattr(self, name)[rows])
        self.moments = self.moments[:, rows].contiguous()
        self._place()

    def _place(self) -> None:
        """Makes the model anew around the rows of weights and buffers."""
        self._forget_step()
        with torch.device(self.device), Undrawn():
            self.model: Any = self.build(len(self.units)).to(self.device)
        self.records = self.device.type == "cuda" and getattr(self.model, "capturable", True)
        self.gradient = torch.zeros_like(self.weights)
        self.ones = torch.ones(len(self.units), device=self.device)
        self.decays: list[tuple[slice, Tensor]] = [(slice(None), self.decay)]
        start = 0
        for parameter in self.model.parameters():
            end = start + parameter.numel() // len(self.units)
            parameter.data = self.weights[:, start:end].view(parameter.shape)
            start = end
        start = 0
        for buffer in self.model.buffers():
            end = start + buffer.numel() // len(self.units)
            buffer.data = self.seen[:, start:end].view(buffer.shape)
            start = end
        self.keyed = [layer for layer in self.model.modules() if isinstance(layer, Keyed)]
        self._set_rates([layer for layer in self.keyed if isinstance(layer, Dropout)])

    def _set_rates(self, drops: Sequence[Dropout]) -> None:
        for drop in drops:
            drop.rate = self.rate


def key_of(unit: Unit) -> int:
    """What all randomness of a unit depends on: its fold and its seed."""
    return (unit.seed * 1_000_003 + unit.fold * 10_007 + 12_345) & (2**40 - 1)


def first_weights(keys: Tensor, build: Build) -> Tensor:
    """The initial weights, one row a replica, drawn on the CPU; equal keys have equal ones."""
    different, which = torch.unique(keys.cpu(), return_inverse=True)
    rows = []
    with DRAWING, torch.random.fork_rng(devices=[]):
        for key in different.tolist():
            torch.manual_seed(key)
            rows.append(torch.cat([p.detach().flatten() for p in build(1).parameters()]))
    return torch.stack(rows).to(keys.device)[which.to(keys.device)]


def first_buffers(replicas: int, build: Build) -> Tensor:
    """What a model keeps beside its weights (running means), one row a replica, before training."""
    with Undrawn():
        row = [buffer.reshape(1, -1) for buffer in build(1).buffers()]
    return torch.cat([torch.zeros(1, 0), *row], 1).repeat(replicas, 1)
