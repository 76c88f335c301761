"""Builds a source archive and, from it, a wheel for every Python that is there; tries each.

    python tools/wheels.py [--dist dist] [python3.10 /path/to/python3.13 ...]

Without names, the Pythons 3.10 to 3.13 on the path and those of pyenv are taken. A wheel must hold
everything in `CONTENTS`, install into an empty environment and pass `tools/smoke.py` there; every
command that needs more than the environment has must say so in one line. Wheels built on Python
3.12 or later fit all that follow (stable ABI), so 3.13 is tried with the wheel of 3.12.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
CONTENTS = (
    r"sepool/_core\.(.+\.)?(so|pyd)",
    r"sepool/_core\.pyi",
    r"sepool/py\.typed",
    r"sepool/bench/published\.json",
    r"sepool/viz/page/explore\.(html|css|js)",
    r"sepool-[^/]+\.dist-info/entry_points\.txt",
)
IN_SOURCE = ("pyproject.toml", "CMakeLists.txt", "src/core/paper.cpp", "LICENSE", "README.md")
GRAPH = "a b\nb c\nc a\nc d\nd e\ne f\nf d\n"
SMOKE = ROOT / "tools" / "smoke.py"
# What a command says where an optional part is missing, and what to install.
LINES = (
    (["plot", "bridge.txt"], "sepool[viz]"),
    (["explore", "bridge.txt", "--no-open"], "sepool[viz]"),
    (["tree", "bridge.txt", "--plot", "bridge.png"], "sepool[viz]"),
    (["reproduce", "table1", "--quick"], "sepool[torch,bench]"),
    (["report"], "sepool[bench]"),
)


QUIET: Any = {"capture_output": True, "text": True, "check": False}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", help="interpreters; found by themselves otherwise")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder for the wheels")
    arguments = parser.parse_args()
    found = dict(find_pythons(arguments.pythons))
    pythons = {version: found[version] for version in VERSIONS if version in found}
    if not pythons:
        sys.exit(f"found none of the Pythons {', '.join(VERSIONS)}; name some")
    shutil.rmtree(arguments.dist, ignore_errors=True)
    source = make_source(next(iter(pythons.values())), arguments.dist)
    print(f"{source.name}: {source.stat().st_size / 1e6:.1f} MB")
    for version, python in pythons.items():
        wheel = wheel_for(version, arguments.dist) or make_wheel(python, source, arguments.dist)
        check_contents(wheel)
        with tempfile.TemporaryDirectory() as folder:
            try_wheel(python, wheel, Path(folder))
        print(f"Python {version}: {wheel.name} installs and works")
    for version in VERSIONS:
        if version not in pythons:
            print(f"Python {version}: not there, not tried")


def find_pythons(named: list[str]) -> Iterator[tuple[str, str]]:
    """The interpreters that run, by version."""
    pyenv = (Path.home() / ".pyenv" / "versions").glob("3.*/bin/python")
    places = named or [*(f"python{version}" for version in VERSIONS), *map(str, sorted(pyenv))]
    seen = set()
    for place in places:
        code = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2], sys.executable)"
        if shutil.which(place) is None:
            continue
        found = subprocess.run([place, "-c", code], **QUIET)
        if found.returncode:  # no such version of pyenv, or a Python without venv
            continue
        version, _, path = found.stdout.strip().partition(" ")
        if version in VERSIONS and version not in seen:
            seen.add(version)
            yield version, path


def make_source(python: str, dist: Path) -> Path:
    """The source archive, by the `build` of an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        own = new_environment(python, Path(folder))
        run([own, "-m", "pip", "install", "--quiet", "build"])
        run([own, "-m", "build", "--sdist", "--outdir", dist, ROOT])
    (source,) = dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if missing := sorted(set(IN_SOURCE) - names):
        sys.exit(f"{source.name} lacks {', '.join(missing)}")
    return source


def wheel_for(version: str, dist: Path) -> Path | None:
    """A wheel that fits this Python already."""
    number = int(version.partition(".")[2])
    for wheel in dist.glob("*.whl"):
        tag = re.search(r"-cp3(\d+)-(\w+)-", wheel.name)
        if tag and (int(tag[1]) == number or (tag[2] == "abi3" and int(tag[1]) <= number)):
            return wheel
    return None


def make_wheel(python: str, source: Path, dist: Path) -> Path:
    """The wheel of one Python, from the source archive."""
    with tempfile.TemporaryDirectory() as folder:
        own = new_environment(python, Path(folder))
        run([own, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", dist, source])
    return max(dist.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)


def check_contents(wheel: Path) -> None:
    """Ends the program unless everything is in the wheel, and nothing that does not belong."""
    names = zipfile.ZipFile(wheel).namelist()
    for pattern in CONTENTS:
        if not any(re.fullmatch(pattern, name) for name in names):
            sys.exit(f"{wheel.name} holds nothing like {pattern}")
    packed = {name for name in names if name.startswith("sepool/")}
    here = ROOT / "src" / "sepool"
    wanted = {
        f"sepool/{path.relative_to(here).as_posix()}"
        for path in here.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyd")
    }
    if wrong := sorted((packed ^ wanted) - {name for name in packed if "/_core." in name}):
        sys.exit(f"{wheel.name} and src/sepool differ in {', '.join(wrong)}")


def try_wheel(python: str, wheel: Path, folder: Path) -> None:
    """Installs the wheel with NumPy alone, then with the command line, and uses both."""
    own = new_environment(python, folder / "env")
    (folder / "bridge.txt").write_text(GRAPH)
    run([own, "-m", "pip", "install", "--quiet", wheel])
    run([own, SMOKE], folder)
    says([own, "-m", "sepool", "--help"], "sepool[cli]", folder)
    run([own, "-m", "pip", "install", "--quiet", f"sepool[cli] @ {wheel.resolve().as_uri()}"])
    run([own, "-m", "sepool", "--help"], folder)
    run([own, "-m", "sepool", "tree", "bridge.txt", "-o", "tree.json"], folder)
    run([own, "-m", "sepool", "doctor"], folder)
    for arguments, wanted in LINES:
        says([own, "-m", "sepool", *arguments], wanted, folder)


def new_environment(python: str, folder: Path) -> str:
    """An empty environment; its interpreter."""
    run([python, "-m", "venv", folder])
    inside = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return str(inside)


def run(command: list[object], folder: Path | None = None) -> None:
    """Runs a command, and ends the program with its output if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, **QUIET)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def says(command: list[object], wanted: str, folder: Path) -> None:
    """Ends the program unless the command fails with one line that says what to install."""
    done = subprocess.run([str(word) for word in command], cwd=folder, **QUIET)
    lines = done.stderr.strip().splitlines()
    if not done.returncode or len(lines) != 1 or wanted not in lines[0]:
        words = " ".join(map(str, command[1:]))
        sys.exit(f"{words} should fail and name {wanted} in one line, but:\n{done.stderr}")


if __name__ == "__main__":
    main()
