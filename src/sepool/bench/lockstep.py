"""Many trainings as one: replicas in lockstep, each as it would train alone.

All weights of a replica lie in one row of one tensor, so that clipping, Adam, the best weights so
far and the removal of finished replicas are a few operations on that tensor. What is random depends
on a unit's seed and fold alone: its first weights, its batches and what dropout drops.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool.bench.protocols import Protocol
from sepool.bench.store import GraphStore, Shape
from sepool.bench.units import Result, Unit
from sepool.nn.dropout import Dropout, mix

Build = Callable[[int], nn.Module]
# Threads may share a GPU (see `sepool.bench.engines.replicas`). While a step is recorded nobody
# else may launch anything but recorded steps.
LAUNCHING = threading.Lock()
BETAS, EPSILON, WARM_UP = (0.9, 0.999), 1e-8, 50


@dataclass(frozen=True)
class Split:
    """The graphs that train, validate and test, one row a replica; ``num_graphs`` is no graph."""

    train: Tensor
    val: Tensor
    test: Tensor

    def keep(self, rows: Tensor) -> Split:
        """That of some replicas."""
        return Split(self.train[rows], self.val[rows], self.test[rows])


class Lockstep:
    """The trainings of some units that differ in fold, seed, dropout, schedule and rates alone.

    Args:
        units: what is trained.
        protocol: by which rules.
        store: the dataset, on the device to train on.
        split: the graphs of every unit.
        build: makes the model, for a number of replicas.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        protocol: Protocol,
        store: GraphStore,
        split: Split,
        build: Build,
    ) -> None:
        self.units, self.protocol, self.store, self.split = list(units), protocol, store, split
        self.build, self.device = build, torch.device(store.device)
        self.batch_size = min(units[0].config.batch, split.train.size(1))
        self.spent = [0.0] * len(units)
        self.side: Any = None
        if self.device.type == "cuda":
            self.side = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
        self.keys = torch.tensor([key_of(unit) for unit in units], device=self.device)
        column = [[getattr(u.config, name) for u in units] for name in ("lr", "weight_decay")]
        self.lr, self.decay = torch.tensor(column, device=self.device).unsqueeze(-1)
        self.cosine = torch.tensor(
            [[u.config.schedule == "cosine"] for u in units], device=self.device
        )
        self.rate = torch.tensor([u.config.dropout for u in units], device=self.device)
        self.weights = first_weights(self.keys, build).to(self.device)
        self.moments = torch.zeros(2, *self.weights.shape, device=self.device)
        self.best = self.weights.clone()
        self.best_loss = torch.full((len(units),), math.inf, device=self.device)
        self.best_accuracy = torch.zeros_like(self.best_loss)
        self.best_epoch = torch.zeros(len(units), dtype=torch.int64, device=self.device)
        self.steps = torch.zeros((), dtype=torch.int64, device=self.device)
        self.train_loss = torch.zeros(len(units), device=self.device)
        self.shape: Shape | None = None
        self.recorded: torch.cuda.CUDAGraph | None = None
        self.curves: dict[int, list[tuple[float, float]]] = {
            i: [] for i, unit in enumerate(units) if unit.keeps_curve
        }
        self._place()

    def run(self) -> Iterator[Result]:
        """Trains until the last replica has stopped; results come as replicas stop."""
        last, began, spent = self.protocol.epochs, perf_counter(), 0.0
        for epoch in range(1, last + 1):
            self.train_epoch(epoch)
            self._wait()
            with LAUNCHING:
                loss, accuracy = self.evaluate(self.split.val)
                self._note(epoch, loss, accuracy)
            over = (epoch - self.best_epoch >= self.protocol.patience).tolist()
            if epoch == last:
                over = [True] * len(over)
            # A few stragglers more cost less than a new start for every replica that stops.
            if sum(over) >= max(1, len(over) // 8) or epoch == last or all(over):
                share = (perf_counter() - began - spent) / len(over)
                spent = perf_counter() - began
                with LAUNCHING:
                    results = self._finish(over, epoch, share)
                yield from results
                if all(over):
                    return

    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Mean loss and accuracy of every replica on its graphs."""
        self.model.eval()
        loss = torch.zeros(len(ids), device=self.device)
        right = torch.zeros_like(loss)
        with torch.no_grad():
            for part in torch.split(ids, self.batch_size, dim=1):
                batch = self.store.batch(part, self._shape_of(part))
                logits = batch.by_replica(self.model.forward_prepared(batch))
                loss += losses(logits, batch.y, batch.there).sum(1)
                right += ((logits.argmax(-1) == batch.y) & batch.there).sum(1)
        count = (ids < self.store.num_graphs).sum(1)
        return loss / count, right / count

    def _shape_of(self, ids: Tensor) -> Shape:
        """The room for graphs that are evaluated, which are the same after every epoch."""
        if ids.data_ptr() not in self.shapes:
            self.shapes[ids.data_ptr()] = self.store.shape(ids)
        return self.shapes[ids.data_ptr()]

    def _wait(self) -> None:
        """Waits for the device before anything is launched that others must not meddle with."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def train_epoch(self, epoch: int) -> None:
        """One epoch of every replica."""
        with LAUNCHING:
            ids = self._draw(epoch)
            need = self.store.shape(ids)
            if self.shape is None or any(map(_more, need, self.shape)):
                self.shape = self.store.shape(ids, spare=0.03)
                self._forget_step()
            if self.device.type == "cuda" and self.recorded is None:
                self._record(ids[0])
        self.model.train()
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
        if self.device.type != "cuda":
            self._train_on(ids)
            return
        assert self.recorded is not None
        self.recorded_ids.copy_(ids)
        self.recorded.replay()

    def _record(self, ids: Tensor) -> None:
        self.recorded_ids = ids.clone()
        state = [self.weights, self.moments, self.steps, self.train_loss]
        saved = [tensor.clone() for tensor in state]
        self._train_on(self.recorded_ids)  # what libraries set up at first use cannot be recorded
        for tensor, before in zip(state, saved, strict=True):
            tensor.copy_(before)
        torch.cuda.current_stream().synchronize()
        self.recorded = torch.cuda.CUDAGraph()
        stream = torch.cuda.current_stream()
        with torch.cuda.graph(self.recorded, stream=self.side, capture_error_mode="thread_local"):
            self._train_on(self.recorded_ids)
        stream.wait_stream(self.side)

    def _forget_step(self) -> None:
        self.recorded = None

    def _train_on(self, ids: Tensor) -> None:
        assert self.shape is not None
        self.steps += 1
        batch = self.store.batch(ids, self.shape)
        for drop in self.drops:
            drop.keys = mix(self.keys + self.steps * 0x9E3779B1)
        logits = batch.by_replica(self.model.forward_prepared(batch))
        loss = losses(logits, batch.y, batch.there).sum(1) / batch.there.sum(1)
        self.gradient.zero_()
        with warnings.catch_warnings():
            # Rows of one tensor are what we want: nothing is impaired by them.
            warnings.filterwarnings("ignore", message=".*gradient layout contract.*")
            torch.autograd.backward(loss.sum())
        self.train_loss += loss.detach()
        with torch.no_grad():
            self._descend()

    def _descend(self) -> None:
        """Clips the gradient of every replica, then a step of Adam."""
        grad = self.gradient
        norm = grad.norm(dim=1, keepdim=True)
        grad *= (self.protocol.clip / (norm + 1e-6)).clamp_(max=1)
        grad.addcmul_(self.weights, self.decay)
        first, second = self.moments
        first.lerp_(grad, 1 - BETAS[0])
        second.mul_(BETAS[1]).addcmul_(grad, grad, value=1 - BETAS[1])
        ones = [1 - beta ** self.steps.float() for beta in BETAS]
        denominator = (second / ones[1]).sqrt_().add_(EPSILON)
        self.weights.addcdiv_(first * (-self._rate_now() / ones[0]), denominator)

    def _rate_now(self) -> Tensor:
        """The learning rates: constant, or up for 50 epochs and down in half a cosine."""
        done = (self.steps - 1) / self._steps_an_epoch()
        rest = ((done - WARM_UP) / (self.protocol.epochs - WARM_UP)).clamp(0, 1)
        wave = torch.where(done < WARM_UP, done / WARM_UP, (1 + torch.cos(math.pi * rest)) / 2)
        return torch.where(self.cosine, self.lr * wave, self.lr)

    def _steps_an_epoch(self) -> int:
        steps = self.protocol.steps_for(self.units[0].dataset)
        return steps or math.ceil(self.split.train.size(1) / self.batch_size)

    def _note(self, epoch: int, loss: Tensor, accuracy: Tensor) -> None:
        """Keeps the weights of every replica whose validation loss is the lowest so far."""
        better = loss < self.best_loss
        self.best_loss = torch.where(better, loss, self.best_loss)
        self.best_accuracy = torch.where(better, accuracy, self.best_accuracy)
        self.best_epoch = torch.where(better, epoch, self.best_epoch)
        torch.where(better.unsqueeze(1), self.weights, self.best, out=self.best)
        if self.curves:
            train, val = self.train_loss.tolist(), loss.tolist()
            for i, curve in self.curves.items():
                curve.append((train[i], val[i]))

    def _finish(self, over: list[bool], epoch: int, share: float) -> list[Result]:
        """Tests the replicas that stopped, with their best weights, and goes on without them."""
        now = self.weights.clone()
        self.weights.copy_(self.best)
        _, tested = self.evaluate(self.split.test)
        self.weights.copy_(now)
        columns = (self.best_epoch, self.best_loss, self.best_accuracy, tested)
        found = zip(*(column.tolist() for column in columns), strict=True)
        results = []
        for i, (unit, (best, loss, val, test)) in enumerate(zip(self.units, found, strict=True)):
            self.spent[i] += share
            if over[i]:
                ran = min(epoch, best + self.protocol.patience)
                curve = tuple(self.curves[i][:ran]) if i in self.curves else None
                results.append(Result(unit, ran, best, loss, val, test, self.spent[i], curve))
        if not all(over):
            self._keep([i for i, stopped in enumerate(over) if not stopped])
        return results

    def _keep(self, left: list[int]) -> None:
        rows = torch.tensor(left, device=self.device)
        self.units = [self.units[i] for i in left]
        self.curves = {new: self.curves[i] for new, i in enumerate(left) if i in self.curves}
        self.spent = [self.spent[i] for i in left]
        self.split = self.split.keep(rows)
        for name in (
            *("keys", "lr", "decay", "cosine", "rate", "weights", "best"),
            *("best_loss", "best_accuracy", "best_epoch", "train_loss"),
        ):
            setattr(self, name, getattr(self, name)[rows])
        self.moments = self.moments[:, rows].contiguous()
        self._place()

    def _place(self) -> None:
        """Makes the model anew around the rows of weights."""
        self._forget_step()
        self.shape = None
        self.shapes: dict[int, Shape] = {}
        self.model: Any = self.build(len(self.units)).to(self.device)
        self.gradient = torch.zeros_like(self.weights)
        start = 0
        for parameter in self.model.parameters():
            end = start + parameter[0].numel()
            parameter.data = self.weights[:, start:end].view(parameter.shape)
            parameter.grad = self.gradient[:, start:end].view(parameter.shape)
            start = end
        self.drops = [layer for layer in self.model.modules() if isinstance(layer, Dropout)]
        for drop in self.drops:
            drop.rate = self.rate


def key_of(unit: Unit) -> int:
    """What all randomness of a unit depends on: its fold and its seed."""
    return (unit.seed * 1_000_003 + unit.fold * 10_007 + 12_345) & (2**40 - 1)


def first_weights(keys: Tensor, build: Build) -> Tensor:
    """The initial weights of every replica, one row each, drawn on the CPU."""
    rows = []
    with torch.random.fork_rng(devices=[]):
        for key in keys.tolist():
            torch.manual_seed(key)
            rows.append(torch.cat([p.detach().flatten() for p in build(1).parameters()]))
    return torch.stack(rows)


def losses(logits: Tensor, y: Tensor, there: Tensor) -> Tensor:
    """The cross entropy of every graph, one row a replica; 0 where there is none."""
    flat = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return flat.view_as(y) * there


def _more(need: tuple[int, ...], have: tuple[int, ...]) -> bool:
    return any(a > b for a, b in zip(need, have, strict=True))
