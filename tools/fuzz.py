"""Fuzz the readers, loaders, files and commands, and count the inputs.

    python tools/fuzz.py [--inputs 20000] [--seed 0] [--targets edges,tree-json] [--jobs 1]

Every target of ``tests/fuzz/targets.py`` runs under Atheris, from the kept corpus. A crash, an
input of more than 5 seconds, an exception that is no refusal, or a wrong result ends its target;
the input is kept in ``build/fuzz``. The state machines of ``tests/fuzz`` follow.
"""

from __future__ import annotations

import argparse
import logging
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import FunctionType

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.fuzz.targets import targets

FUZZ, OUT = ROOT / "tests" / "fuzz", ROOT / "build" / "fuzz"
TIMEOUT = 5  # seconds for one input
MEMORY = 4096  # megabytes
FAST = 4  # times as many inputs for targets in plain Python without a library behind them
SLOW = ("gexf", "graphml", "gml", "mtx", "parquet", "arrow", "npz", "dataset", "cache", "csv")
DONE = re.compile(r"^Done (\d+) runs|^#(\d+)\s", re.MULTILINE)


def main() -> None:
    """Run all targets, print a line each and a summary; exit with 1 after a failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--targets", default="")
    parser.add_argument("--jobs", type=int, default=1)
    if sys.argv[1:2] == ["--child"]:
        return fuzz_here(sys.argv[2], sys.argv[3:])
    args = parser.parse_args()
    names = args.targets.split(",") if args.targets else list(targets())
    total = sum(map(share, names))
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = [
            pool.submit(fuzz, name, -(-args.inputs * share(name) // total), args.seed + 1)
            for name in names
        ]
        outcomes = [run.result() for run in runs]
    count, failed = sum(n for n, _ in outcomes), sum(bool(bad) for _, bad in outcomes)
    if not args.targets:
        failed += machines(args.seed)
    print(f"fuzz: seed {args.seed}, {count:,} inputs of {len(names)} targets, {failed} failures")
    sys.exit(failed > 0)


def share(name: str) -> int:
    """Return the number of inputs of a target, relative to others."""
    return 1 if name.rpartition("-")[2] in SLOW else FAST


def fuzz(name: str, inputs: int, seed: int) -> tuple[int, str]:
    """Run one target; return the number of inputs and the line of its failure."""
    found = OUT / name
    found.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, __file__, "--child", name, f"-runs={inputs}", f"-seed={seed}"),
        *(f"-timeout={TIMEOUT}", f"-rss_limit_mb={MEMORY}", "-max_len=4096", "-len_control=0"),
        *(f"-artifact_prefix={OUT}/{name}.", str(found), str(FUZZ / "corpus" / name)),
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", **pipes)
    counts = [int(a or b) for a, b in DONE.findall(done.stdout)]
    count, reason = max(counts, default=0), ""
    if done.returncode:
        lines = done.stdout.strip().splitlines()
        told = [line for line in lines if "Error" in line or "ERROR" in line or "Wrong" in line]
        reason = " ".join([*told[:2], *lines[-2:]]) or f"exit code {done.returncode}"
        Path(OUT, f"{name}.log").write_text(done.stdout)
    print(f"{name}: {count:,} inputs{f'; FAILED: {reason}' if reason else ''}", flush=True)
    return count, reason


def fuzz_here(name: str, options: list[str]) -> None:
    """Run one target in this process until libFuzzer ends it, with sepool instrumented."""
    import atheris

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    target = targets()[name]
    for module in ("separated", "parquet", "graphml", "matrix", "lists"):
        import_module(f"sepool.graph.formats.{module}")
    import_module("sepool.pyg.dataset")
    for path in (FUZZ / "corpus" / name).iterdir():
        target(path.read_bytes())  # loads libraries, which takes longer than an input may
    for module, function in functions():
        if module.partition(".")[0] == "sepool":
            atheris.instrument_func(function)
    atheris.Setup([__file__, *options], target)
    atheris.Fuzz()


def functions() -> Iterator[tuple[str, FunctionType]]:
    """Yield all functions and methods of the modules that are loaded, with their module."""
    for name, module in list(sys.modules.items()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if getattr(value, "__module__", None) != name:
                continue
            members = vars(value).values() if isinstance(value, type) else [value]
            yield from ((name, one) for one in members if isinstance(one, FunctionType))


def machines(seed: int) -> int:
    """Run the state machines; return the exit code of pytest."""
    tests = [str(path) for path in sorted(FUZZ.glob("test_*.py"))]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--hypothesis-seed={seed}"]
    return subprocess.run(
        [*command, "--hypothesis-profile=fuzz", "-p", "no:cacheprovider", *tests], cwd=ROOT
    ).returncode


if __name__ == "__main__":
    main()
