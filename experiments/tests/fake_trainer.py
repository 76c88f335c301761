"""A trainer without torch: results are a function of the unit, and workers can be killed.

Environment variables, which worker processes inherit:
FAKE_SECONDS duration of a unit, except that with the key FAKE_QUICK;
FAKE_LOG a file for the keys of all started units;
FAKE_DIE a folder: the first unit without a file ``died`` in it creates one and kills its process;
FAKE_FAIL the key of a unit that raises, FAKE_KILL that of a unit that always kills its process.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from sepool_experiments.protocols.units import Result


def train(units, protocol, data_root, device="cpu", log=print, checkpoints=None):
    for unit in units:
        _obey(unit)
        yield result(unit)


def result(unit):
    """Return a result that depends on the unit alone."""
    bits = int(unit.key, 16)
    curve = ((1.0, 1.1), (0.5, 0.75)) if unit.keeps_curve else None
    val, test = 0.5 + bits % 97 / 200, 0.5 + bits % 89 / 200
    return Result(unit, 10 + bits % 7, 5, 1 + bits % 13 / 10, val, test, 0.01, curve)


def _obey(unit):
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a") as file:
            file.write(unit.key + "\n")
    if unit.key == os.environ.get("FAKE_FAIL"):
        raise ArithmeticError("told to fail")
    if unit.key == os.environ.get("FAKE_KILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    if folder := os.environ.get("FAKE_DIE"):
        try:
            Path(folder, "died").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    if unit.key != os.environ.get("FAKE_QUICK"):
        time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
