"""The same trees on every processor: each build gives the committed hashes of 500 graphs."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = (ROOT / "tests" / "fuzz" / "tree_hashes.txt").read_text().splitlines()
CROSS = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64"

X86 = {
    "plain": ("", set()),
    "fused multiply-add": ("-mfma -mavx2", {"fma", "avx2"}),
    "AVX-512": ("-mfma -mavx512f -mavx512vl", {"fma", "avx512f", "avx512vl"}),
}


def tool(name: str) -> str:
    """A build tool, from this environment or the system."""
    in_environment = Path(sys.executable).parent / name
    path = str(in_environment) if in_environment.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def tree_hashes(build: Path, flags: str, options: list[str], emulator: list[str]) -> list[str]:
    cmake, ninja = tool("cmake"), tool("ninja")
    configure = [cmake, "-S", ROOT, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    options = ["-DSEPOOL_HASHES=ON", f"-DCMAKE_CXX_FLAGS={flags}", *options]
    for command in ([*configure, *options], [cmake, "--build", build, "--target", "tree_hashes"]):
        subprocess.run(command, check=True, capture_output=True, text=True)
    run = [*emulator, build / "tree_hashes", str(len(GOLDEN))]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.heavy
@pytest.mark.parametrize("build", X86)
def test_trees_on_x86_equal_the_committed_ones(build, tmp_path):
    flags, needed = X86[build]
    cpu = Path("/proc/cpuinfo")
    present = set(cpu.read_text().split()) if cpu.exists() else set()
    if platform.machine() != "x86_64" or not needed <= present:
        pytest.skip(f"the processor is no x86-64 with {build}")
    tool("c++")
    assert tree_hashes(tmp_path, flags, [], []) == GOLDEN


@pytest.mark.heavy
def test_trees_on_aarch64_equal_the_committed_ones(tmp_path):
    options = [
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        f"-DCMAKE_CXX_COMPILER={tool(CROSS)}",
        "-DCMAKE_EXE_LINKER_FLAGS=-static",
    ]
    assert tree_hashes(tmp_path, "", options, [tool(EMULATOR)]) == GOLDEN
