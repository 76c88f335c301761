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
def small(monkeypatch):
    """A small ring and a small grid in place of those of the figure."""
    from sepool_experiments.figures.shapes import SHAPES, grid, ring

    monkeypatch.setitem(SHAPES, "ring", lambda: ring(12))
    monkeypatch.setitem(SHAPES, "grid", lambda: grid(4))
    return SHAPES


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
    from small_graphs import write_files

    labels = [2 + (place % 7 == 6) for place in range(180)]
    return write_files(tmp_path / "data", [(TAILED, 8), (FUSED, 10)] * 10, labels)
