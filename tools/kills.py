"""Kill ``sepool reproduce`` at random moments, and measure what a kill costs.

    python tools/kills.py --data FOLDER [--kills 20] [--seed 0] [-- table1 --datasets MUTAG ...]

Every kill is a SIGKILL of the whole process group in the first minute. Then the rows are read: none
may be lost, doubled or changed. Work that is lost is the time from the last write beside the rows,
or else from the start, to the kill. A table that is complete begins again in a new folder.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.results.rows import read_protocol

DEFAULT = ("table1", "--datasets", "MUTAG", "--systems", "SEP-G", "--configs", "1", "--seeds", "2")
MOST_LOST, LAST = 30.0, 60.0  # seconds: work that may be lost, and the latest kill

Rows = dict[str, dict[str, Any]]


def main() -> None:
    """Kill, print a line a kill and a summary; exit with 1 after a failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("arguments", nargs="*", default=DEFAULT)
    args = parser.parse_args()
    moments, lost, failures = random.Random(args.seed), [], 0
    with tempfile.TemporaryDirectory() as folder:
        out, before = Path(folder, "0"), {}
        for number in range(args.kills):
            moment = moments.uniform(0, LAST)
            ended, seconds = kill(args.arguments, args.data, out, moment)
            after, errors = compare(before, out / args.arguments[0])
            if not ended:
                lost.append(seconds)
            failures += len(errors) + (seconds > MOST_LOST)
            state = "complete" if ended else f"{seconds:.1f} s lost"
            notes = "; ".join([state, f"{len(after)} rows", *errors])
            print(f"kill {number + 1} after {moment:.1f} s: {notes}", flush=True)
            before = {} if ended else after
            out = Path(folder, str(number + 1)) if ended else out
    print(f"{len(lost)} kills, at most {max(lost, default=0):.1f} s lost, {failures} failures")
    sys.exit(failures > 0)


def kill(arguments: tuple[str, ...], data: Path, out: Path, moment: float) -> tuple[bool, float]:
    """Run the command and kill it; return whether it had ended, and the seconds that are lost."""
    command = [sys.executable, "-m", "sepool", "reproduce", *arguments]
    command += ["--data", str(data), "--out", str(out), "--device", "cpu"]
    start = time.time()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        now = time.time()
        process.wait()
        return False, now - max(start, last_write(out / arguments[0]))
    if process.returncode:
        raise SystemExit(f"the command failed with exit code {process.returncode}")
    return True, 0.0


def last_write(folder: Path) -> float:
    """Return the time of the last write of rows or checkpoints."""
    patterns = ("rows.sqlite*", "*.checkpoint")
    files = [path for pattern in patterns for path in folder.glob(pattern)]
    return max((path.stat().st_mtime for path in files), default=0.0)


def compare(before: Rows, folder: Path) -> tuple[Rows, list[str]]:
    """Return the rows of a folder by their keys, and what is wrong with them."""
    stored = read_protocol(folder)
    keys = [unit.key for unit in stored.units(PROTOCOLS[folder.name].name)]
    after = dict(zip(keys, stored.rows.to_pylist(), strict=True))
    errors = [f"{len(keys) - len(after)} rows doubled"] if len(after) < len(keys) else []
    if missing := before.keys() - after.keys():
        errors.append(f"{len(missing)} rows lost")
    if changed := [key for key in before.keys() & after.keys() if before[key] != after[key]]:
        errors.append(f"{len(changed)} rows changed")
    return after, errors


if __name__ == "__main__":
    main()
