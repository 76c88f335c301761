"""What several test files share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("sepool", deadline=None)
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
Edge = tuple[int, int, float]
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


@pytest.fixture(scope="session")
def plain_entropy() -> Callable[..., float]:
    """Eq. 3 of the paper, with sets and recursion: nothing here comes from sepool."""

    def entropy(num_nodes: int, edges: Sequence[Edge], levels: Sequence[Sequence[int]]) -> float:
        edges = [edge for edge in edges if edge[0] != edge[1]]

        def volume(nodes: set[int]) -> float:
            return sum(w * ((u in nodes) + (v in nodes)) for u, v, w in edges)

        def below(nodes: set[int], coarse_to_fine: Sequence[Sequence[int]]) -> float:
            if not coarse_to_fine:
                return 0.0
            children: dict[int, set[int]] = {}
            for node in nodes:
                children.setdefault(coarse_to_fine[0][node], set()).add(node)
            bits = 0.0
            for child in children.values():
                cut = sum(w for u, v, w in edges if (u in child) != (v in child))
                if cut > 0:
                    bits -= cut / total * log2(volume(child) / volume(nodes))
                bits += below(child, coarse_to_fine[1:])
            return bits

        everything = set(range(num_nodes))
        total = volume(everything)
        return below(everything, [*reversed(levels), range(num_nodes)])

    return entropy


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of a graph."""

    def write(content: str | bytes, name: str = "graph.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
