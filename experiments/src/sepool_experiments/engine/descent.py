"""Gradient descent of many replicas in lockstep: weights, Adam, early stopping, results.

All weights of a replica are one row of one tensor, so that clipping, Adam, the best weights and the
removal of finished replicas are a few operations on that tensor. Random numbers (initial weights,
batches, dropout) depend on the seed and fold of a unit alone.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from sepool_experiments.engine.adam import adam_step
from sepool_experiments.engine.checkpoint import Checkpoint
from sepool_experiments.engine.launch_lock import LAUNCH_LOCK
from sepool_experiments.layers.dropout import Dropout, Keyed, mix
from sepool_experiments.protocols import catalog as protocols
from sepool_experiments.protocols.units import Result, Unit

Build = Callable[[int], nn.Module]
DRAW_LOCK = threading.Lock()  # all threads share the random numbers of PyTorch
REPORT_SECONDS = 20.0
MANY = 64  # replicas; with fewer a GPU waits for launches and compaction gains little


class Descent(ABC):
    """The trainings of some units as one model; subclasses add the data.

    ``split`` has the data for training, validation and test, and `select` of some replicas.
    """

    per_replica: tuple[str, ...] = (
        *("keys", "lr", "decay", "rate", "patience", "weights", "best", "buffers"),
        *("best_buffers", "best_loss", "best_accuracy", "best_epoch"),
        "train_loss",
    )
    phase = "training"
    split: Any

    def __init__(
        self,
        units: Sequence[Unit],
        protocol: protocols.Protocol,
        split: Any,
        build: Build,
        device: torch.device | str,
    ) -> None:
        self.units, self.protocol, self.split = list(units), protocol, split
        self.build, self.device = build, torch.device(device)
        self.seconds, self.clock = [0.0] * len(units), perf_counter()
        self.epochs_done = self.steps_done = 0  # steps of the epoch that runs
        self.reported: set[Unit] = set()  # units whose result was yielded
        self.checkpoint = Checkpoint(None)
        self.side_stream: Any = None
        if self.device.type == "cuda":
            priority = torch.cuda.current_stream(self.device).priority
            self.side_stream = torch.cuda.Stream(self.device, priority)  # type: ignore[no-untyped-call]
        self.keys = torch.tensor([key_of(unit) for unit in units], device=self.device)
        column = [[getattr(u.config, name) for u in units] for name in ("lr", "weight_decay")]
        self.lr, self.decay = torch.tensor(column, device=self.device).unsqueeze(-1)
        self.rate = torch.tensor([u.config.dropout for u in units], device=self.device)
        patience = [dict(u.config.extra).get("patience", protocol.patience) for u in units]
        self.patience = torch.tensor(patience, device=self.device)
        self.weights, self.buffers = initial_state(self.keys, build)
        self.moments = torch.zeros(2, *self.weights.shape, device=self.device)
        self.best = self.weights.clone()
        self.best_buffers = self.buffers.clone()
        self.best_loss = torch.full((len(units),), math.inf, device=self.device)
        self.best_accuracy = torch.zeros_like(self.best_loss)
        self.best_epoch = torch.zeros(len(units), dtype=torch.int64, device=self.device)
        self.steps = torch.zeros((), dtype=torch.int64, device=self.device)
        self.train_loss = torch.zeros(len(units), device=self.device)
        self.graph_of_step: torch.cuda.CUDAGraph | None = None
        self._place_model()

    def run(self) -> Iterator[Result]:
        """Train until the last replica has stopped; yield results as replicas stop.

        Results come with a compaction, or after some seconds without one.
        """
        self.checkpoint.restore(self)
        last, self.clock = self.protocol.epochs, perf_counter()
        due = self.clock + REPORT_SECONDS
        while self.epochs_done < last:
            epoch = self.epochs_done = self.advance(self.epochs_done)
            with LAUNCH_LOCK.launching():
                stopped = (epoch - self.best_epoch >= self.patience).tolist()
            if epoch == last:
                stopped = [True] * len(stopped)
            # Idle replicas cost less than a compaction for every replica that stops.
            compact = sum(stopped) >= max(1, len(stopped) // (4 if len(stopped) > MANY else 2))
            if compact or (any(stopped) and perf_counter() >= due):
                with LAUNCH_LOCK.launching():
                    results = self._finish(stopped, epoch, compact)
                yield from results
                due = perf_counter() + REPORT_SECONDS
                if all(stopped):
                    break
            self.checkpoint.save(self)
        self.checkpoint.remove()

    @abstractmethod
    def advance(self, epoch: int) -> int:
        """Train from an epoch on, track the best weights, and return the last epoch."""

    @abstractmethod
    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean loss and accuracy of every replica."""

    @abstractmethod
    def curve(self, i: int, epochs: int) -> tuple[tuple[float, float], ...] | None:
        """Return the losses of a replica, if recorded."""

    def _synchronize(self) -> None:
        """Wait for the current stream, before launches that need the lock."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def _reset_capture(self) -> None:
        self.graph_of_step = None

    def _begin_step(self) -> None:
        self.steps += 1
        keys = mix(self.keys + self.steps * 0x9E3779B1) if self.keyed else None
        for layer in self.keyed:
            layer.keys = keys

    def _end_step(self, loss: Tensor) -> None:
        """Update the weights by the gradient of the losses, one a replica."""
        parts = torch.autograd.grad(
            loss, list(self.model.parameters()), self.ones, materialize_grads=True
        )
        # One launch in place of one for every parameter.
        torch.cat([part.reshape(len(loss), -1) for part in parts], 1, out=self.gradient)
        with torch.no_grad():
            self._descend()

    def _descend(self) -> None:
        """Clip the gradient of every replica and apply Adam."""
        rate, clip = self._rate_now(), self.protocol.clip
        norm = self.gradient.norm(dim=1, keepdim=True) if math.isfinite(clip) else None
        state = self.weights, self.gradient, self.moments, self.steps, rate
        for part, decay in self.decays:
            adam_step(*state, decay, norm, clip, part)

    def _rate_now(self) -> Tensor:
        """Return the learning rates."""
        rates: Tensor = self.lr
        return rates

    def _track_best(self, epoch: int | Tensor, loss: Tensor, accuracy: Tensor) -> None:
        """Keep the weights of every replica with its lowest validation loss so far.

        Replicas beyond their patience are ignored.
        """
        better = (loss < self.best_loss) & (epoch - self.best_epoch <= self.patience)
        torch.where(better, loss, self.best_loss, out=self.best_loss)
        torch.where(better, accuracy, self.best_accuracy, out=self.best_accuracy)
        now = torch.as_tensor(epoch, device=self.device)
        torch.where(better, now, self.best_epoch, out=self.best_epoch)
        torch.where(better.unsqueeze(1), self.weights, self.best, out=self.best)
        torch.where(better.unsqueeze(1), self.buffers, self.best_buffers, out=self.best_buffers)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and numbers that the rest of the training depends on."""
        self._assign_time()
        tensors = {name: getattr(self, name) for name in self._saved()}
        if self.device.type == "cpu":
            tensors["random"] = torch.get_rng_state()
        return tensors, {
            "epochs_done": self.epochs_done,
            "steps_done": self.steps_done,
            "seconds": self.seconds,
        }

    def load_state(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue from a state of the same units."""
        for name in self._saved():
            setattr(self, name, tensors[name].to(self.device))
        self.epochs_done, self.steps_done = numbers["epochs_done"], numbers["steps_done"]
        self.seconds = list(numbers["seconds"])
        self._place_model()
        if self.device.type == "cpu":
            torch.set_rng_state(tensors["random"])

    def _saved(self) -> tuple[str, ...]:
        """Return the names of the tensors in a checkpoint."""
        return (*self.per_replica, "moments", "steps")

    def _assign_time(self) -> None:
        """Share the time since the last call among the replicas without a result."""
        running = [i for i, unit in enumerate(self.units) if unit not in self.reported]
        now = perf_counter()
        for i in running:
            self.seconds[i] += (now - self.clock) / len(running)
        self.clock = now

    def _finish(self, stopped: list[bool], epoch: int, compact: bool) -> list[Result]:
        """Test the stopped replicas with their best weights; remove them if asked for."""
        self._assign_time()
        new = [i for i, unit in enumerate(self.units) if stopped[i] and unit not in self.reported]
        results = self._results(new, epoch) if new else []
        self.reported.update(self.units[i] for i in new)
        if compact and not all(stopped):
            self._select([i for i, done in enumerate(stopped) if not done])
        return results

    def _results(self, replicas: list[int], epoch: int) -> list[Result]:
        """Return the results of replicas, tested with their best weights."""
        weights, buffers = self.weights.clone(), self.buffers.clone()
        self.weights.copy_(self.best)
        self.buffers.copy_(self.best_buffers)
        _, tested = self.evaluate(self.split.test)
        self.weights.copy_(weights)
        self.buffers.copy_(buffers)
        columns = (self.best_loss, self.best_accuracy, tested)
        measured = list(zip(*(column.tolist() for column in columns), strict=True))
        best, patience = self.best_epoch.tolist(), self.patience.tolist()
        results = []
        for i in replicas:
            epochs, (loss, val, test) = min(epoch, best[i] + patience[i]), measured[i]
            numbers = epochs, best[i], loss, val, test, self.seconds[i]
            results.append(Result(self.units[i], *numbers, self.curve(i, epochs)))
        return results

    def _select(self, running: list[int]) -> None:
        """Continue with the replicas that are still running."""
        rows = torch.tensor(running, device=self.device)
        self.units = [self.units[i] for i in running]
        self.seconds = [self.seconds[i] for i in running]
        self.split = self.split.select(rows)
        for name in self.per_replica:
            setattr(self, name, getattr(self, name)[rows])
        self.moments = self.moments[:, rows].contiguous()
        self._place_model()

    def _place_model(self) -> None:
        """Make a model whose parameters and buffers are views of the rows."""
        self._reset_capture()
        with torch.device("meta"):  # draws no weights
            self.model: Any = self.build(len(self.units))
        self.model.to_empty(device=self.device)
        self.captures = self.device.type == "cuda" and getattr(self.model, "capturable", True)
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
            buffer.data = self.buffers[:, start:end].view(buffer.shape)
            start = end
        self.keyed = [layer for layer in self.model.modules() if isinstance(layer, Keyed)]
        self._set_rates([layer for layer in self.keyed if isinstance(layer, Dropout)])

    def _set_rates(self, drops: Sequence[Dropout]) -> None:
        for drop in drops:
            drop.rate = self.rate


def key_of(unit: Unit) -> int:
    """Return the key of the random numbers of a unit, a function of its fold and seed."""
    return (unit.seed * 1_000_003 + unit.fold * 10_007 + 12_345) & (2**40 - 1)


def initial_state(keys: Tensor, build: Build) -> tuple[Tensor, Tensor]:
    """Return initial weights and buffers, one row a replica; equal keys have equal weights.

    Weights are drawn on the CPU, where they are the same for every device.
    """
    unique, inverse = torch.unique(keys.cpu(), return_inverse=True)
    weights, buffers = [], []
    with DRAW_LOCK, torch.random.fork_rng(devices=[]):
        for key in unique.tolist():
            torch.manual_seed(key)
            model = build(1)
            weights.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
            parts = [torch.zeros(0), *(buffer.flatten() for buffer in model.buffers())]
            buffers.append(torch.cat(parts))
    weight, buffer = (torch.stack(rows)[inverse].to(keys.device) for rows in (weights, buffers))
    return weight, buffer
