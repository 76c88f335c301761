"""The same trees on every processor: builds with and without fused multiply-add agree."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GRAPHS = 2000


def tool(name: str) -> str:
    """A build tool, from this environment or the system."""
    in_environment = Path(sys.executable).parent / name
    path = str(in_environment) if in_environment.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def require_fma() -> None:
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text().split() if cpu.exists() else []
    if platform.machine() != "x86_64" or not {"fma", "avx2"} <= set(flags):
        pytest.skip("the processor is no x86-64 with FMA and AVX2")
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler is installed")


def tree_hashes(build: Path, flags: str) -> list[str]:
    cmake, ninja = tool("cmake"), tool("ninja")
    configure = [cmake, "-S", ROOT, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    options = ["-DSEPOOL_HASHES=ON", f"-DCMAKE_CXX_FLAGS={flags}"]
    for command in ([*configure, *options], [cmake, "--build", build, "--target", "tree_hashes"]):
        subprocess.run(command, check=True, capture_output=True, text=True)
    run = [build / "tree_hashes", str(GRAPHS)]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.heavy
def test_trees_built_with_fused_multiply_add_are_equal(tmp_path):
    require_fma()
    plain = tree_hashes(tmp_path / "plain", "")
    fused = tree_hashes(tmp_path / "fused", "-mfma -mavx2")
    assert len(plain) == GRAPHS
    assert fused == plain
