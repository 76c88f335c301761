from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.large.reference import turns

from sepool.large import rounds, statements
from sepool.large.duck import DuckEngine


def sums(keys):
    """Distinct pairs of ids and how often they occur."""
    n = 1 << 31
    rows, count = np.unique(keys[0] * n + keys[1], return_counts=True)
    return rows // n, rows % n, count


@pytest.mark.heavy
def test_rounds_on_duckdb_that_spills_equal_reference(tmp_path):
    rng = np.random.default_rng(0)
    n, m = 1_000_000, 8_000_000
    u, v = rng.integers(n, size=m), rng.integers(n, size=m) ** 2 // n
    u, v, w = sums((np.minimum(u, v)[u != v], np.maximum(u, v)[u != v]))
    engine = DuckEngine(tmp_path, 1, 2)
    engine.put("edges", {"u": u, "v": v, "w": w})
    ids = np.arange(n)
    engine.put("labels", {"id": ids, "cluster": ids // 2})
    engine.store("linked", statements.links("edges", "labels", 0, rounds.PARTS))
    assert engine.spilled > 1e7
    ends = np.concatenate([u, v]), np.concatenate([v, u]) // 2
    mine = turns(ends[0], 0, rounds.PARTS)
    weight = np.concatenate([w, w])[mine]
    keys, slot = np.unique(ends[0][mine] * n + ends[1][mine], return_inverse=True)
    rows = engine.arrays("SELECT * FROM linked WHERE c > 0 ORDER BY id, cluster")
    assert np.array_equal(rows["id"] * n + rows["cluster"], keys)
    assert np.array_equal(rows["c"], np.bincount(slot, weight))
    engine.spilled = 0
    engine.store("contracted", statements.contracted_edges("edges", "labels"))
    assert engine.spilled > 1e7
    a, b = np.minimum(u // 2, v // 2), np.maximum(u // 2, v // 2)
    keys, slot = np.unique((a * n + b)[a != b], return_inverse=True)
    rows = engine.arrays("SELECT * FROM contracted ORDER BY u, v")
    assert np.array_equal(rows["u"] * n + rows["v"], keys)
    assert np.array_equal(rows["w"], np.bincount(slot, w[a != b]))
    engine.close()
