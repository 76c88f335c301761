"""The death of a process at a checkpoint."""

from __future__ import annotations

from sepool_experiments.engine import checkpoint


class Killed(BaseException):
    """Stands for the death of a process."""


def die_after(monkeypatch, saves):
    """Let a process die after some checkpoints."""
    save, count = checkpoint.Checkpoint.save, iter(range(saves))

    def save_and_die(self, training):
        save(self, training)
        if next(count, None) is None:
            raise Killed

    monkeypatch.setattr(checkpoint.Checkpoint, "save", save_and_die)
