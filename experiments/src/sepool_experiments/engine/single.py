"""Training of one PyG model on one task: AdamW, warm-up and cosine decay, best epoch by validation.

Of the epochs that of the highest validation score counts, of equals that of the lowest loss; its
weights are tested once. Scores are the accuracy, the area under the ROC curve, or for numbers minus
the mean absolute error.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from sepool_experiments.batches.tasks import TaskBatch, TaskBatches
from sepool_experiments.data.tasks.catalog import load_task, load_task_trees
from sepool_experiments.data.tasks.task import Ints, Task
from sepool_experiments.engine.checkpoint import Checkpoints
from sepool_experiments.models.catalog import system_of
from sepool_experiments.protocols.protocol import HEIGHT, Protocol
from sepool_experiments.protocols.units import Result, Unit

WARM_UP = 0.05  # share of all steps
EVALUATED = 256  # examples at a time


def train(
    units: Sequence[Unit],
    protocol: Protocol,
    data_root: Path,
    device: str = "cpu",
    log: Callable[[str], None] = print,
    checkpoints: Checkpoints | None = None,
) -> Iterator[Result]:
    """Train units one after another; there are no checkpoints of these short trainings."""
    if device == "cpu":
        torch.set_num_threads(1)
    for unit in units:
        batches = _batches(data_root, unit.dataset, unit.tree, unit.fold, protocol.folds, device)
        yield Training(unit, protocol, batches).run()


@lru_cache(maxsize=4)
def _batches(root: Path, name: str, tree: str, fold: int, folds: int, device: str) -> TaskBatches:
    """Examples of a task, kept from one training to the next."""
    task = load_task(root, name, fold, folds)
    forest = load_task_trees(root, task, tree, HEIGHT) if tree else None
    return TaskBatches(task, forest, device)


@dataclass(frozen=True)
class Scale:
    """Loss and score of a task; models predict standardised numbers."""

    metric: str
    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def of(cls, task: Task) -> Scale:
        """Take mean and deviation of numbers from the training set."""
        if task.metric != "mae":
            return cls(task.metric)
        targets = task.targets(task.train)
        return cls(task.metric, float(targets.mean()), float(targets.std()) or 1.0)

    def loss(self, out: Tensor, y: Tensor) -> Tensor:
        """Mean cross entropy, or mean absolute error of standardised numbers."""
        if self.metric == "mae":
            return (out.squeeze(-1) - (y - self.mean) / self.deviation).abs().mean()
        return F.cross_entropy(out, y, ignore_index=-1)

    def score(self, out: Tensor, y: Tensor) -> float:
        """Return a number that is higher for better predictions."""
        if self.metric == "mae":
            return -float((out.squeeze(-1) * self.deviation + self.mean - y).abs().mean())
        scored = y >= 0
        if self.metric == "auc":
            odds = out[scored, 1] - out[scored, 0]
            return float(roc_auc_score(y[scored].cpu().numpy(), odds.cpu().numpy()))
        return float((out[scored].argmax(1) == y[scored]).double().mean())


class Training:
    """One model on one task."""

    def __init__(self, unit: Unit, protocol: Protocol, batches: TaskBatches) -> None:
        self.unit, self.protocol, self.batches = unit, protocol, batches
        task, config = batches.task, unit.config
        self.scale, self.epochs = Scale.of(task), int(dict(config.extra)["epochs"])
        torch.manual_seed(unit.seed)
        self.rng = np.random.default_rng(unit.seed)
        shaped = replace(config, extra=(*config.extra, ("task", task.target)))
        build = system_of(unit).build
        self.model: nn.Module = build(task.x.shape[1], task.outputs, shaped, None)
        self.model.to(batches.device)
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=config.lr, weight_decay=config.weight_decay
        )
        steps = self.epochs * math.ceil(len(task.train) / config.batch)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimiser, lambda step: _rate(step, steps)
        )

    def run(self) -> Result:
        """Train all epochs, and test the weights of the best one."""
        start, task = time.perf_counter(), self.batches.task
        best, best_epoch, weights = (-math.inf, -math.inf), 0, self._weights()
        curve = []
        for epoch in range(1, self.epochs + 1):
            train_loss = self._epoch()
            loss, score = self.evaluate(task.val)
            curve.append((train_loss, loss))
            if (score, -loss) > best:
                best, best_epoch, weights = (score, -loss), epoch, self._weights()
        self.model.load_state_dict(weights)
        return Result(
            unit=self.unit,
            epochs=self.epochs,
            best_epoch=best_epoch,
            val_loss=-best[1],
            val_accuracy=best[0],
            test_accuracy=self.evaluate(task.test)[1],
            seconds=time.perf_counter() - start,
            curve=tuple(curve) if self.unit.keeps_curve else None,
        )

    @torch.no_grad()
    def evaluate(self, examples: Ints) -> tuple[float, float]:
        """Return loss and score on some examples."""
        self.model.eval()
        parts = [(self._predict(b), b.y) for b in self.batches.batches(examples, EVALUATED)]
        out, y = (torch.cat(part) for part in zip(*parts, strict=True))
        return float(self.scale.loss(out, y)), self.scale.score(out, y)

    def _epoch(self) -> float:
        """Train one pass over the training set; return the mean loss of its batches."""
        self.model.train()
        losses = []
        for batch in self.batches.shuffled(self.unit.config.batch, self.rng):
            loss = self.scale.loss(self._predict(batch), batch.y)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.model.parameters(), self.protocol.clip)
            self.optimiser.step()
            self.schedule.step()
            losses.append(loss.detach())
        return float(torch.stack(losses).mean())

    def _predict(self, batch: TaskBatch) -> Tensor:
        out: Tensor = self.model(batch.data, batch.levels)
        return out

    def _weights(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.model.state_dict().items()}


def _rate(step: int, steps: int) -> float:
    """Share of the learning rate: linear warm-up, then half a cosine down to 0."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 + 0.5 * math.cos(math.pi * (step - warm) / max(steps - warm, 1))
