from __future__ import annotations

import numpy as np
import pytest

from sepool_experiments.figures.molecules import Molecule, count_rings, shuffled


def test_molecule_fused_rings_are_two(fused):
    assert [len(ring) for ring in fused.rings] == [6, 6]
    assert set(fused.rings[0]) & set(fused.rings[1]) == {0, 5}
    assert len(fused.ring_bonds) == 11
    assert fused.in_ring.all()


@pytest.mark.parametrize(
    ("labels", "whole", "pieces", "bonds"),
    [
        ([0] * 10, 1, 1, 1),  # one cluster
        ([0] * 6 + [1] * 4, 0.5, 1.5, 9 / 11),  # one whole ring
        (range(10), 0, 6, 0),  # singletons
        ([0, 1, 1, 1, 1, 0, 2, 2, 2, 2], 0, 2, 7 / 11),  # only the common bond in one cluster
    ],
)
def test_count_rings_of_split_rings(fused, labels, whole, pieces, bonds):
    count = count_rings([fused], [np.array(labels)])
    assert (count.rings, count.whole, count.pieces) == (2, whole, pieces)
    assert count.bonds == pytest.approx(bonds)


def test_count_rings_split_or_joined_lowers_match():
    rings = [(i, (i + 1) % 6) for i in range(6)]
    far = Molecule.of(12, np.array([*rings, *((a + 6, b + 6) for a, b in rings), (0, 6)]))
    apart = count_rings([far], [np.arange(12) // 6])
    joined = count_rings([far], [np.zeros(12, int)])
    torn = count_rings([far], [np.arange(12) // 3])
    assert apart.match == 1
    assert joined.whole == 1
    assert joined.match == pytest.approx(2 * 30 / (66 + 30))
    assert torn.match == pytest.approx(2 * 12 / (12 + 30))


def test_count_rings_without_rings_is_nan():
    path = Molecule.of(3, np.array([[0, 1], [1, 2]]))
    assert path.rings == ()
    assert len(path.ring_bonds) == 0
    assert np.isnan(count_rings([path], [np.zeros(3, int)]).whole)


def test_shuffled_permutes_labels(fused):
    labels = [np.arange(10) // 5]
    mixed = shuffled(labels)
    assert np.array_equal(np.sort(mixed[0]), labels[0])
    assert not np.array_equal(mixed[0], labels[0])
