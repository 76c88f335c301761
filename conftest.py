"""Settings and fixtures of every test run; the root is on the path for modules that tests share."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# The tests' tensors are small: several threads would mostly wait for one another. Read at the first
# import of torch, here and in worker processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
if shutil.which("nvidia-smi") is None:  # without a GPU, Triton's kernels are interpreted
    os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile("sepool", deadline=None)
settings.register_profile("fuzz", deadline=5000, max_examples=40, stateful_step_count=20)
settings.load_profile("sepool")

# The command line as if some packages were not installed; they come first, then the arguments.
_WITHOUT = """
import sys

absent = sys.argv.pop(1).split(",")

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *more):
        return None if name.partition(".")[0] in absent else self.finder.find_spec(name, *more)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
from sepool.__main__ import main
main()
"""
IMPORT = re.compile(r"could not import '(\w+).*", re.DOTALL)
BRIDGE = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]


@pytest.fixture
def bridge() -> list[tuple[int, int]]:
    """Two triangles joined by an edge; the best tree of height 2 has an entropy of 1.6995."""
    return list(BRIDGE)


@pytest.fixture
def without(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command line in an empty folder as if packages (with commas) were not installed."""

    def run(packages: str, *args: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-c", _WITHOUT, packages, *args]
        return subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each reason to skip, with the number of tests."""
    counts: Counter[str] = Counter()
    full: dict[str, set[str]] = {}
    for report in terminalreporter.stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = IMPORT.sub(r"no module \1", reason.removeprefix("Skipped: "))
        short = reason.partition(":")[0]
        counts[short] += 1
        full.setdefault(short, set()).add(reason)
    if counts:
        terminalreporter.section("skipped")
    for short, count in counts.most_common():
        line = full[short].pop() if len(full[short]) == 1 else f"{short}: ..."
        terminalreporter.line(f"{count:5d}  {line}")
