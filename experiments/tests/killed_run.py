"""A run that test_run.py kills: killed_run.py OUT BACKEND, with the fake trainer."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from sepool_experiments.backends import RunOptions
from sepool_experiments.backends.run import Plan, run
from sepool_experiments.protocols.catalog import PROTOCOLS

if __name__ == "__main__":
    # Children of background jobs inherit that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    protocol = PROTOCOLS["table1"]
    units = protocol.units(["MUTAG"], ["SEP-G"], seeds=2, folds=10, configs=[0])
    out = Path(sys.argv[1])
    options = RunOptions(out, workers=2, trainer="fake_trainer:train")
    run(Plan.of(protocol, units, out), options, sys.argv[2])
