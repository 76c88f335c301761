from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.large.conftest import planted
from tests.large.reference import Tables

from sepool import structural_entropy
from sepool.graph.graph import as_graph
from sepool.large import batches, statements
from sepool.large.duck import DuckEngine
from sepool.large.options import Options
from sepool.large.state import State


@pytest.fixture
def engine(tmp_path):
    engine = DuckEngine(tmp_path, 10**9, 2)
    yield engine
    engine.close()


def put(engine, tables):
    n = len(tables.volume)
    engine.put("edges_0", {"u": tables.u, "v": tables.v, "w": tables.w})
    columns = {"id": np.arange(n), "volume": tables.volume, "degree": tables.degree}
    engine.put("flat_0", {**columns, "cluster": tables.cluster})


def random_tables(seed, clusters=12, isolated=0):
    u, v = planted(1600, seed, size=20)
    w = np.random.default_rng(seed).integers(1, 4, size=len(u))
    loop = u == v
    n = int(max(u.max(), v.max())) + 1
    tables = Tables(u[~loop], v[~loop], w[~loop], n + isolated)
    tables.cluster = np.random.default_rng(seed).integers(clusters, size=n + isolated)
    tables.cluster[n:] = clusters + np.arange(isolated)
    return tables


def options(memory):
    return Options(2, memory, "duckdb", 2, None, True, None, None)


def entropy(tables, labels):
    edges = np.column_stack([tables.u, tables.v, tables.w])
    graph = as_graph(edges=edges, num_nodes=len(tables.cluster))
    return structural_entropy(graph, [np.unique(labels, return_inverse=True)[1]])


@pytest.mark.parametrize("seed", range(4))
def test_refine_entropy_falls_by_the_sum_of_the_batches(engine, tmp_path, seed):
    tables = random_tables(seed, isolated=9)
    put(engine, tables)
    state = State(engine, tmp_path / "manifest.json", {})
    table = batches.refine(state, options(60 * 600))
    rows = engine.arrays(f"SELECT * FROM {table} ORDER BY id")
    assert rows["id"].tolist() == list(range(len(tables.cluster)))
    assert state.steps["sweep 1, batches"]["batches"] > 2
    fall = sum(figures.get("fall", 0) for figures in state.steps.values())
    after = entropy(tables, rows["cluster"])
    assert entropy(tables, tables.cluster) - after == pytest.approx(fall, abs=1e-9)
    assert fall > 0.5
    counts = np.bincount(rows["cluster"])
    assert (counts[rows["cluster"][-9:]] == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_batch_tables_equal_reference(engine, seed):
    tables = random_tables(seed)
    put(engine, tables)
    engine.store("joined", statements.joined_edges("edges_0", "flat_0"))
    sizes = engine.arrays(statements.cluster_sizes("joined", "flat_0"))
    a, b = tables.cluster[tables.u], tables.cluster[tables.v]
    same = a == b
    assert sizes["volume"].tolist() == np.bincount(tables.cluster, tables.volume).tolist()
    assert sizes["inner"].tolist() == np.bincount(a[same], tables.w[same], 12).tolist()
    ends = np.bincount(a, minlength=12) + np.bincount(b[~same], minlength=12)
    assert sizes["ends"].tolist() == ends.tolist()
    batch, pieces, count = batches.plan_batches(sizes["ends"], sizes["nodes"], 100)
    assert pieces.max() > 1
    engine.put("plan", {"cluster": sizes["cluster"], "batch": batch, "pieces": pieces})
    engine.store("ends", statements.batch_edges("joined", "plan"))
    engine.store("flat_1", statements.batch_labels("flat_0", "plan"))
    of = engine.arrays("SELECT id, batch FROM flat_1 ORDER BY id")["batch"]
    assert set(of) <= set(range(count))
    for k in range(count):
        inside = engine.arrays(f"{statements.inside(k)} ORDER BY u, v")
        mine = (of[tables.u] == k) & (of[tables.v] == k)
        assert inside["u"].tolist() == tables.u[mine].tolist()
        across = engine.arrays(f"{statements.across('flat_1', k)} ORDER BY id, cluster")
        expected = {}
        for u, v, w in zip(tables.u, tables.v, tables.w, strict=True):
            for one, other in ((u, v), (v, u)):
                if of[one] == k and of[other] != k:
                    key = one, tables.cluster[other]
                    expected[key] = expected.get(key, 0) + w
        rows = zip(across["id"], across["cluster"], across["w"], strict=True)
        assert {(i, c): w for i, c, w in rows} == expected


@pytest.mark.parametrize("seed", range(20))
def test_plan_batches_fills_batches_in_order(seed):
    rng = np.random.default_rng(seed)
    ends, nodes = rng.integers(0, 50, size=(2, 30))
    batch, pieces, count = batches.plan_batches(ends, nodes + 1, 20)
    used = np.concatenate([b + np.arange(p) for b, p in zip(batch, pieces, strict=True)])
    assert set(range(count)) <= set(used.tolist())
    alone = pieces == 1
    assert (np.bincount(batch[alone], ends[alone]) <= 20).all() or (ends[alone] > 20).any()
    assert (ends[~alone] > 20).all()
    assert not set(batch[alone]) & {
        b + k for b, p in zip(batch, pieces, strict=True) if p > 1 for k in range(p)
    }


def test_name_clusters_largest_rest_keeps_the_cluster():
    labels = np.array([0, 1, 2, 0, 0, 3])  # three nodes, three rests
    volume = np.array([1, 1, 1, 5, 7, 0])
    assert batches.name_clusters(labels, volume, 3).tolist() == [1, 3, 4, 0, 1, 2]
