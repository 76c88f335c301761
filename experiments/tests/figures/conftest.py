"""Fixtures of the tests of figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

HEXAGON = [(i, (i + 1) % 6) for i in range(6)]
# Two fused rings: atoms 0 and 5 are in both.
FUSED = [*HEXAGON, (0, 6), (6, 7), (7, 8), (8, 9), (9, 5)]
TAILED = [*HEXAGON, (0, 6), (6, 7)]


@pytest.fixture
def shapes():
    """A small ring and a small grid."""
    from sepool_experiments.figures.shapes import grid, ring

    return {"ring": ring(12), "grid": grid(4)}


@pytest.fixture
def short():
    """Figure 3 with twenty epochs and two seeds."""
    from sepool_experiments.protocols.figures import FIGURE3

    return replace(FIGURE3, epochs=20, seeds=2)


@pytest.fixture
def fused():
    from sepool_experiments.figures.molecules import Molecule

    return Molecule.of(10, np.array(FUSED))


@pytest.fixture
def data(tmp_path):
    """Twenty molecules, every other one with two fused rings, and ten folds, as files."""
    root = tmp_path / "data"
    raw, splits = root / "TU" / "MUTAG" / "raw", root / "splits" / "MUTAG"
    raw.mkdir(parents=True)
    splits.mkdir(parents=True)
    pairs, owner, first = [], [], 1
    for number in range(20):
        bonds, atoms = (FUSED, 10) if number % 2 else (TAILED, 8)
        pairs += [f"{first + a}, {first + b}" for u, v in bonds for a, b in ((u, v), (v, u))]
        owner += [number + 1] * atoms
        first += atoms
    files = {
        "A": pairs,
        "graph_indicator": owner,
        "graph_labels": [1, -1] * 10,
        "node_labels": [2 + (place % 7 == 6) for place in range(len(owner))],
    }
    for name, lines in files.items():
        (raw / f"MUTAG_{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    for fold in range(10):
        (splits / f"test_idx-{fold + 1}.txt").write_text(f"{fold}\n{fold + 10}\n")
    return root
