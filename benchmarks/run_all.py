"""Runs all benchmarks that need no GPU: `python benchmarks/run_all.py [--quick]`; then the page."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from results import parser

SCRIPTS = (
    "communities",
    "minimisers",
    "depth",
    "optimum",
    "relabel",
    "permutation",
    "trees",
    "entropy",
    "speed",
    "scale",
    "reading",
    "large",
    "pyg",
    "epoch",
    "tree_conv",
)


def main() -> None:
    arguments = parser(__doc__).parse_args()
    shared = ["--quick"] if arguments.quick else []
    data = ["--data", arguments.data] if arguments.data else []
    failed = []
    for script in SCRIPTS:
        start = time.monotonic()
        code = _run(script, shared + data)
        print(f"{script}: {'done' if code == 0 else 'FAILED'}, {time.monotonic() - start:.0f} s")
        if code:
            failed.append(script)
    _run("report", shared)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def _run(script: str, options: list[str]) -> int:
    path = Path(__file__).with_name(f"{script}.py")
    return subprocess.run([sys.executable, str(path), *options], check=False).returncode


if __name__ == "__main__":
    main()
