"""The core's logarithm: accurate, exact for powers of two and monotone."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from sepool import _core

LARGEST = 2**62  # of the volumes that the core adds up


def random_volumes(count: int, bits: int, seed: int) -> np.ndarray:
    """Integers of up to ``bits`` bits, all lengths equally likely."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 2 ** rng.integers(1, bits, count), dtype=np.int64, endpoint=True)


@pytest.mark.parametrize(
    "volumes",
    [
        pytest.param(np.arange(1, 1_500_000), id="small"),
        pytest.param(random_volumes(1_500_000, 53, 0), id="exact doubles"),
        pytest.param(random_volumes(1_000_000, 62, 1) | 2**53, id="beyond 2^53"),
    ],
)
def test_log2_of_millions_of_integers_within_an_ulp(volumes):
    ours, libm = _core.log2(volumes), np.log2(volumes.astype(float))
    assert (np.abs(ours - libm) <= np.spacing(libm)).all()


def test_log2_of_integers_is_correctly_rounded_nearly_always():
    volumes = random_volumes(100_000, 62, 2)
    expected = [log2(float(v)) for v in volumes.tolist()]
    assert (_core.log2(volumes) == expected).mean() > 0.999


def test_log2_of_powers_of_two_is_exact():
    assert _core.log2(2 ** np.arange(63)).tolist() == list(range(63))


def test_log2_of_zero_is_zero():
    assert _core.log2(np.array([0])).tolist() == [0]


def test_log2_of_rising_volumes_never_falls():
    start = random_volumes(2_000, 61, 3)
    steps = 2 ** np.maximum(np.log2(start).astype(np.int64) - 52, 0)  # to the next double
    runs = start[:, None] + steps[:, None] * np.arange(500)
    assert runs.max() <= LARGEST
    logs = _core.log2(runs.ravel()).reshape(runs.shape)
    assert (np.diff(logs, axis=1) >= 0).all()


def test_log2_of_a_negative_volume_raises():
    with pytest.raises(ValueError, match="volumes must not be negative, got -1"):
        _core.log2(np.array([1, -1]))
