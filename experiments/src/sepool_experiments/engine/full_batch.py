"""Descent on one graph: a step is an epoch, and steps can follow each other without the host."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from sepool_experiments.engine.cuda_graphs import record
from sepool_experiments.engine.descent import Descent

LOOK_EVERY = 10  # epochs between two looks at a GPU, which goes on by itself in between


class WholeGraphDescent(Descent):
    """The trainings of replicas that see the same graph in every step."""

    @abstractmethod
    def step(self) -> None:
        """One epoch of every replica, without a word to the host."""

    def _state(self) -> list[Tensor]:
        """What a step changes: it is put back after the step that is recorded."""
        return [
            *(self.weights, self.moments, self.seen, self.best, self.best_seen, self.steps),
            *(self.best_loss, self.best_accuracy, self.best_epoch),
        ]

    def advance(self, epoch: int) -> int:
        """Some epochs on a GPU, one elsewhere."""
        last = min(epoch + (LOOK_EVERY if self.records else 1), self.protocol.epochs)
        self.model.train()
        if self.records and self.recorded is None:
            self.recorded = record(self.step, self._state(), self.side)
        for _ in range(last - epoch):
            if self.recorded is None:
                self.step()
            else:
                self.recorded.replay()
        self._wait()
        return last
