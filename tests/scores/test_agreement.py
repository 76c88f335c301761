from __future__ import annotations

from math import log

import numpy as np
import pytest

from sepool.scores.agreement import agreement

metrics = pytest.importorskip("sklearn.metrics")


@pytest.mark.parametrize("seed", range(3))
def test_agreement_random_labels_equals_formulas(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    table = np.array([[np.sum((one == i) & (other == j)) for j in range(3)] for i in range(4)]) / 60
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    mutual = sum(
        p * log(p / (rows[i] * columns[j])) if p else 0.0 for (i, j), p in np.ndenumerate(table)
    )
    mean = -sum(p * log(p) for p in rows) / 2 - sum(p * log(p) for p in columns) / 2
    result = agreement(one, other)
    assert result.nmi == pytest.approx(mutual / mean)
    assert result.ami == pytest.approx(metrics.adjusted_mutual_info_score(one, other))
    assert result.ami < result.nmi


def test_agreement_equal_clusterings_is_one():
    assert agreement(np.array([3, 3, 1, 1]), np.array([0, 0, 9, 9])) == (1.0, 1.0)


def test_agreement_one_cluster_is_zero():
    result = agreement(np.zeros(4, int), np.array([0, 0, 1, 1]))
    assert result == pytest.approx((0.0, 0.0), abs=1e-12)
