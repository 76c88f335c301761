from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def write(tmp_path):
    """Writes columns as Parquet and returns the path."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def write(name="edges.parquet", **columns):
        path = tmp_path / name
        pq.write_table(pa.table(columns), path)
        return path

    return write


def planted(num_edges: int, seed: int = 0, size: int = 100):
    """Ends of edges of which four in five stay in communities of ``size`` nodes."""
    rng = np.random.default_rng(seed)
    n = max(num_edges // 8 // size, 2) * size
    u = rng.integers(n, size=num_edges)
    inside = u // size * size + rng.integers(size, size=num_edges)
    return u, np.where(rng.random(num_edges) < 0.8, inside, rng.integers(n, size=num_edges))


def labels_of(path):
    """The rows of a table of labels, sorted by node."""
    import pyarrow.parquet as pq

    rows = pq.read_table(path).to_pylist()
    return sorted(tuple(row.values()) for row in rows)
