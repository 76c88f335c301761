"""Timing that stays fair on a busy machine: programs take turns, and medians are compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

SHORTEST = 0.05  # seconds; quicker work is repeated until a sample lasts this long


@dataclass
class Contender:
    """Work to be timed."""

    name: str
    solve: Callable[[], Any]
    samples: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def seconds(self) -> float:
        return median(self.samples)

    def sample(self) -> None:
        """Times one run, or the mean of as many as last SHORTEST together."""
        total, runs = 0.0, 0
        while total < SHORTEST:
            start = time.perf_counter()
            self.result = self.solve()
            total += time.perf_counter() - start
            runs += 1
        self.samples.append(total / runs)


def measured(contenders: list[Contender]) -> dict[str, dict[str, float]]:
    """The seconds and the number of samples of every contender, as fields of a row."""
    return {
        "seconds": {c.name: c.seconds for c in contenders},
        "rounds": {c.name: len(c.samples) for c in contenders},
    }


def take_turns(contenders: list[Contender], rounds: int, budget: float) -> None:
    """Runs all contenders round by round; one that has used up its budget of seconds stops early.

    Everything that lasts under a second is run once before, so that imports, caches and memory
    are warm for all.
    """
    for contender in contenders:
        contender.sample()
        if contender.seconds < 1.0:
            contender.samples.clear()
    for _ in range(rounds):
        for contender in contenders:
            full = len(contender.samples) >= rounds
            if not full and sum(contender.samples) < budget:
                contender.sample()
