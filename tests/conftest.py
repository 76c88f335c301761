"""Fixtures of several test files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path

import pytest

Edge = tuple[int, int, float]


@pytest.fixture(scope="session")
def plain_entropy() -> Callable[..., float]:
    """Eq. 3 of the paper, with sets and recursion, independent of sepool."""

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
                leaving = sum(w for u, v, w in edges if (u in child) != (v in child))
                if leaving > 0:
                    bits -= leaving / total * log2(volume(child) / volume(nodes))
                bits += below(child, coarse_to_fine[1:])
            return bits

        everything = set(range(num_nodes))
        total = volume(everything)
        return below(everything, [*reversed(levels), range(num_nodes)])

    return entropy


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the file of a graph."""

    def write(content: str | bytes, name: str = "graph.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
