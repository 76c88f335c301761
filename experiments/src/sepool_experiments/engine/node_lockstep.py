"""Node classification of many replicas side by side, each as it would train alone.

An epoch is one full-batch step. On a GPU a step with its validation is captured once, and the host
checks for stopped replicas every few epochs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from sepool_experiments.engine.descent import Build
from sepool_experiments.engine.full_batch import FullBatchDescent
from sepool_experiments.engine.launch_lock import LAUNCH_LOCK
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Config, Result, Unit

# Options of a configuration with a dropout rate; the first is the default of the others.
DROPOUTS = ("dropout", "input_dropout", "pool_dropout", "edge_dropout")


@dataclass(frozen=True)
class NodeSplit:
    """Nodes for training, validation and test, the same for all replicas."""

    train: Tensor
    val: Tensor
    test: Tensor

    def select(self, rows: Tensor) -> NodeSplit:
        """Restrict to some replicas."""
        return self


class NodeLockstep(FullBatchDescent):
    """The trainings of units that differ in seed, rates, decay and patience alone."""

    per_replica = (*FullBatchDescent.per_replica, "rates", "decay_rest")
    split: NodeSplit

    def __init__(
        self,
        units: Sequence[Unit],
        protocol: Protocol,
        data: Data,
        split: NodeSplit,
        build: Build,
    ) -> None:
        device = data.x.device
        self.data, self.y = data, data.y
        self.graph: Any = None
        self.rates = torch.tensor([rates_of(unit.config) for unit in units], device=device)
        rest = [[_extra(u.config, "decay_rest", u.config.weight_decay)] for u in units]
        self.decay_rest = torch.tensor(rest, dtype=torch.float32, device=device)
        self.trace = torch.zeros(protocol.epochs, 2, len(units), device=device)
        super().__init__(units, protocol, split, build, device)

    def run(self) -> Iterator[Result]:
        """Train until the last replica has stopped, after the encoder if the model has one."""
        self.checkpoint.restore(self)
        make_encoder = getattr(self.model, "make_encoder", None)
        if make_encoder and self.graph is None:
            encoding = Encoding(self.units, self.protocol, self.data, self.split, make_encoder)
            encoding.checkpoint = self.checkpoint
            self.graph = encoding.encode()
        yield from super().run()

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and numbers that the rest of the training depends on."""
        tensors, numbers = super().state()
        if hasattr(self.model, "make_encoder"):
            tensors["graph"] = self.graph
        return tensors, numbers

    def load_state(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Continue from a state of the same units."""
        if "graph" in tensors:
            self.graph = tensors["graph"].to(self.device)
        super().load_state(tensors, numbers)

    def _saved(self) -> tuple[str, ...]:
        return (*super()._saved(), "trace")

    def step(self) -> None:
        """Train every replica for one epoch without host synchronisation."""
        self.model.train()
        self._begin_step()
        loss, _ = self._measure(self.split.train)
        self._end_step(loss)
        self.train_loss.copy_(loss.detach())
        loss, accuracy = self.evaluate(self.split.val)
        self._track_best(self.steps, loss, accuracy)
        both = torch.stack([self.train_loss, loss]).unsqueeze(0)
        self.trace.index_copy_(0, (self.steps - 1).view(1), both)

    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean loss and accuracy of every replica on some nodes."""
        self.model.eval()
        with torch.no_grad():
            return self._measure(ids)

    def curve(self, i: int, epochs: int) -> tuple[tuple[float, float], ...] | None:
        """Return the losses of a replica, if recorded."""
        if not self.units[i].keeps_curve:
            return None
        return tuple((train, val) for train, val in self.trace[:epochs, :, i].tolist())

    def _measure(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.model(self.graph).index_select(0, ids)  # (nodes, R, classes)
        y = self.y.index_select(0, ids).unsqueeze(1).expand(-1, logits.size(1))
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
        correct = (logits.argmax(-1) == y).float()
        return loss.view_as(y).mean(0), correct.mean(0)

    def _state(self) -> list[Tensor]:
        return [*super()._state(), self.train_loss, self.trace]

    def _select(self, running: list[int]) -> None:
        rows = torch.tensor(running, device=self.device)
        self.trace = self.trace[:, :, rows].contiguous()
        if isinstance(self.graph, Tensor) and self.graph.dim() == 3:  # one table a replica
            self.graph = self.graph[:, rows].contiguous()
        super()._select(running)

    def _place_model(self) -> None:
        super()._place_model()
        if self.graph is None and not hasattr(self.model, "make_encoder"):
            self.graph = self.model.prepare(self.data)
        first = self.model.decayed
        self.decays, start = [], 0
        for name, parameter in self.model.named_parameters():
            end = start + parameter.numel() // len(self.units)
            decay = self.decay if name.startswith(first) else self.decay_rest
            self.decays.append((slice(start, end), decay))
            start = end
        self.decays = _joined(self.decays)

    def _set_rates(self, drops: Sequence[Dropout]) -> None:
        for drop in drops:
            i = DROPOUTS.index(drop.option)
            used = any(rates_of(unit.config)[i] for unit in self.units)
            drop.rate = self.rates[:, i].contiguous() if used else 0.0


class Encoding(NodeLockstep):
    """Trainings of encoders by a loss of their own, which also decides when they stop."""

    phase = "encoding"

    def encode(self) -> Tensor:
        """Return the encoding of the nodes by the best encoder of every replica."""
        self.checkpoint.restore(self)
        while self.epochs_done < self.protocol.epochs:
            epoch = self.epochs_done = self.advance(self.epochs_done)
            self.checkpoint.save(self)
            with LAUNCH_LOCK.launching():
                if bool((epoch - self.best_epoch >= self.patience).all()):
                    break
        with LAUNCH_LOCK.launching(), torch.no_grad():
            self.weights.copy_(self.best)
            self.model.eval()
            encoding: Tensor = self.model(self.graph)
        return encoding

    def step(self) -> None:
        """Train for one epoch and keep the weights of the lowest loss."""
        self.model.train()
        self._begin_step()
        loss = self.model.loss(self.graph)
        with torch.no_grad():
            self._track_best(self.steps, loss.detach(), torch.zeros_like(loss))
        self._end_step(loss)

    def _place_model(self) -> None:
        super()._place_model()
        rates = [_extra(u.config, "encoder_lr", 1e-3) for u in self.units]
        self.lr = torch.tensor(rates, device=self.device).unsqueeze(1)
        patience = [int(_extra(u.config, "encoder_patience", 20)) for u in self.units]
        self.patience = torch.tensor(patience, device=self.device)
        self.decays = [(slice(None), torch.zeros_like(self.lr))]


def rates_of(config: Config) -> list[float]:
    """Return the dropout rates of a configuration, in the order of `DROPOUTS`.

    >>> rates_of(Config(dropout=0.5, extra=(("pool_dropout", 0.1),)))
    [0.5, 0.5, 0.1, 0.5]
    """
    return [config.dropout, *(float(_extra(config, name, config.dropout)) for name in DROPOUTS[1:])]


def _extra(config: Config, name: str, default: float) -> float:
    return float(dict(config.extra).get(name, default))


def _joined(parts: list[tuple[slice, Tensor]]) -> list[tuple[slice, Tensor]]:
    """Join adjacent slices with the same decay."""
    out: list[tuple[slice, Tensor]] = []
    for part, decay in parts:
        if out and out[-1][1] is decay:
            part = slice(out.pop()[0].start, part.stop)
        out.append((part, decay))
    return out
