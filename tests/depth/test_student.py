"""Tail probabilities and discoveries, against SciPy."""

import numpy as np
import pytest

from sepool.depth.student import discoveries, p_values, tail

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 19, 199])
def test_tail_equals_scipy(freedom):
    t = np.array([-3.0, 0.0, 0.5, 1.0, 2.5, 8.0])
    np.testing.assert_allclose(tail(t, freedom), stats.t.sf(t, freedom), atol=1e-12)


def test_p_values_without_variation_are_a_half():
    assert p_values(np.array([2.0]), np.full((5, 1), 2.0)).tolist() == [0.5]
    assert p_values(np.array([2.5]), np.full((5, 1), 2.0)).tolist() == [0.5]


def test_p_values_of_an_observation_among_the_sample_are_large():
    sample = np.random.default_rng(0).normal(size=(20, 2))
    p = p_values(np.array([0.0, 9.0]), sample)
    assert p[0] > 0.2
    assert p[1] < 1e-6


def test_discoveries_equal_those_of_scipy():
    p = np.random.default_rng(1).random(50) ** 3
    expected = stats.false_discovery_control(p) <= 0.05
    np.testing.assert_array_equal(discoveries(p, 0.05), expected)
