from __future__ import annotations

import os
import sys

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'sepool[ray]'")
ray_data = pytest.importorskip(
    "ray.data", reason="Ray Data is not installed: pip install 'sepool[ray]'"
)

import sepool  # noqa: E402
from sepool.integrations.ray import coding_trees_over_ray  # noqa: E402

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    """A local Ray of two worker processes that can import sepool."""
    quiet = {"RAY_DEDUP_LOGS": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        for name, value in quiet.items():
            patch.setenv(name, value)
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
        )
        yield
        ray.shutdown()


@pytest.mark.parametrize("method", ["best", "paper"])
def test_coding_trees_over_ray_many_batches_equal_coding_trees(method):
    rng = np.random.default_rng(0)
    graphs = [rng.integers(0, 4 + i % 9, size=(5 + i % 7, 2)) for i in range(40)]
    expected = sepool.coding_trees(graphs, 3, method=method)
    trees = list(coding_trees_over_ray(graphs, 3, method, batch_size=7))
    assert len(trees) == len(expected)
    for a, b in zip(trees, expected, strict=True):
        assert a.entropy == b.entropy
        assert all((a.labels(k) == b.labels(k)).all() for k in range(1, 4))


def test_coding_trees_over_ray_slow_first_batch_keeps_order():
    rng = np.random.default_rng(0)
    slow = rng.integers(0, 20_000, size=(100_000, 2))
    graphs = [slow, *(np.array([(i, i + 1) for i in range(n)]) for n in range(1, 20))]
    trees = list(coding_trees_over_ray(graphs, 2, batch_size=1))
    assert [tree.num_nodes for tree in trees[1:]] == list(range(2, 21))


def test_coding_trees_over_ray_lists_of_pairs_are_read(bridge):
    trees = list(coding_trees_over_ray([bridge, bridge[:3]], height=2))
    assert [round(tree.entropy, 4) for tree in trees] == [1.6995, 1.39]


def test_coding_trees_over_ray_dataset_is_read(bridge):
    dataset = ray_data.from_items([{"graph": np.array(bridge)}] * 3)
    trees = list(coding_trees_over_ray(dataset, height=2))
    assert [round(tree.entropy, 4) for tree in trees] == [1.6995] * 3


def test_coding_trees_over_ray_unknown_method_raises():
    with pytest.raises(ValueError, match="method must be one of"):
        next(coding_trees_over_ray([], method="magic"))
