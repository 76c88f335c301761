from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.large.reference import Tables

from sepool.large import rounds, statements
from sepool.large.duck import DuckEngine


def check_rounds(engine, seed: int, num_rounds: int = 5) -> None:
    """Run rounds on a random graph and compare them with NumPy, id by id."""
    rng = np.random.default_rng(seed)
    n, m = 60, 240
    u, v, w = rng.integers(n, size=m), rng.integers(n, size=m), rng.integers(1, 4, size=m)
    loop = u == v
    tables = Tables(u[~loop], v[~loop], w[~loop], n)
    engine.put("edges", {"u": tables.u, "v": tables.v, "w": tables.w})
    ids = np.arange(n)
    columns = {"id": ids, "volume": tables.volume, "degree": tables.degree, "cluster": ids}
    engine.put("labels_0", columns)
    total, limit = int(tables.volume.sum()), int(tables.volume.sum()) // 6
    for number in range(num_rounds):
        before, after = f"labels_{number}", f"labels_{number + 1}"
        engine.hold("sizes", statements.volumes(before))
        links = statements.links("edges", before, number, rounds.PARTS)
        scores = statements.scores(links, before, "sizes", total, limit)
        expected = tables.grown(number, total, limit)
        engine.hold("choices", statements.choices(scores, engine.best))
        engine.store(after, statements.moved(before, "choices"))
        engine.drop("sizes", "choices")
        labels = engine.arrays(f"SELECT id, cluster FROM {after} ORDER BY id")
        assert labels["cluster"].tolist() == expected.tolist(), number
        tables.cluster = expected


@pytest.mark.parametrize("seed", range(5))
def test_rounds_on_duckdb_equal_reference(tmp_path, seed):
    engine = DuckEngine(tmp_path, 10**9, 2)
    check_rounds(engine, seed)
    engine.close()
