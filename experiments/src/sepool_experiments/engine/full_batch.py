"""Full-batch training on one graph: a step is an epoch, without host synchronisation."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from sepool_experiments.engine.cuda_graphs import capture
from sepool_experiments.engine.descent import Descent

CHECK_EVERY = 10  # epochs on a GPU between two checks for replicas that have stopped


class FullBatchDescent(Descent):
    """The trainings of replicas on the same graph in every step."""

    @abstractmethod
    def step(self) -> None:
        """Train every replica for one epoch without host synchronisation."""

    def _state(self) -> list[Tensor]:
        """Tensors that a step modifies."""
        return [
            *(self.weights, self.moments, self.buffers, self.best, self.best_buffers, self.steps),
            *(self.best_loss, self.best_accuracy, self.best_epoch),
        ]

    def advance(self, epoch: int) -> int:
        """Train for some epochs on a GPU, for one elsewhere."""
        last = min(epoch + (CHECK_EVERY if self.captures else 1), self.protocol.epochs)
        self.model.train()
        if self.captures and self.graph_of_step is None:
            self.graph_of_step = capture(self.step, self._state(), self.side_stream)
        for _ in range(last - epoch):
            if self.graph_of_step is None:
                self.step()
            else:
                self.graph_of_step.replay()
        self._synchronize()
        return last
