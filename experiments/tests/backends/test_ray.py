from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'sepool[ray]'")

import ray

import sepool
from sepool_experiments.backends.ray import Ray, coding_trees_over_ray

HERE = str(Path(__file__).parents[1])


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    """A local Ray of two worker processes, which find sepool and the fake trainer."""
    paths = os.pathsep.join([HERE, *filter(None, sys.path)])
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
            runtime_env={"env_vars": {"PYTHONPATH": paths}},
        )
        yield
        ray.shutdown()


@pytest.fixture
def tell(monkeypatch, tmp_path):
    """Tells the fake trainer what to do: Ray's workers do not see our environment."""
    real = ray.remote

    def tell(**variables):
        def remote(**options):
            return real(**options, runtime_env={"env_vars": variables})

        monkeypatch.setattr(ray, "remote", remote)

    return tell


def run(units, protocol, options):
    return list(Ray().run(units, protocol, options))


def test_every_unit_once_and_the_same_results(units, protocol, options, result):
    results = run(units, protocol, options)
    assert sorted(r.unit.key for r in results) == sorted(u.key for u in units)
    assert all(r == result(r.unit) for r in results)


def test_a_killed_worker_costs_nothing_but_time(units, protocol, options, result, tell, tmp_path):
    tell(FAKE_DIE=str(tmp_path), FAKE_LOG=str(tmp_path / "log"), FAKE_SECONDS="0.05")
    results = run(units, protocol, options)
    assert (tmp_path / "died").exists()
    assert sorted(r.unit.key for r in results) == sorted(u.key for u in units)
    assert all(r == result(r.unit) for r in results)
    starts = (tmp_path / "log").read_text().split()
    assert len(starts) == len(units) + 1  # only what the dead worker had was repeated


def test_a_unit_that_always_kills_its_worker_ends_the_run(units, protocol, options, tell):
    tell(FAKE_KILL=units[0].key)
    with pytest.raises(RuntimeError, match="a worker died 2 times while it trained table1 MUTAG"):
        run(units[:2], protocol, replace(options, retries=1))


def test_a_failing_training_ends_the_run(units, protocol, options, tell):
    tell(FAKE_FAIL=units[0].key)
    with pytest.raises(ArithmeticError, match="told to fail"):
        run(units[:2], protocol, options)


def test_nothing_to_do(protocol, options):
    assert run([], protocol, options) == []


@pytest.fixture
def ray_data():
    return pytest.importorskip(
        "ray.data", reason="Ray Data is not installed: pip install 'ray[data]'"
    )


@pytest.mark.usefixtures("ray_data")
@pytest.mark.parametrize("method", ["best", "paper"])
def test_trees_over_ray_data(method):
    rng = np.random.default_rng(0)
    graphs = [rng.integers(0, 4 + i % 9, size=(5 + i % 7, 2)) for i in range(40)]
    here = sepool.coding_trees(graphs, 3, method=method)
    there = list(coding_trees_over_ray(graphs, 3, method, batch_size=7))
    assert len(there) == len(here)
    for ours, theirs in zip(here, there, strict=True):
        assert ours.entropy == theirs.entropy
        assert all((ours.labels(k) == theirs.labels(k)).all() for k in range(1, 4))


@pytest.mark.usefixtures("ray_data")
def test_order_when_the_first_batch_is_the_slowest():
    rng = np.random.default_rng(0)
    slow = rng.integers(0, 20_000, size=(100_000, 2))
    graphs = [slow, *(np.array([(i, i + 1) for i in range(n)]) for n in range(1, 20))]
    trees = list(coding_trees_over_ray(graphs, 2, batch_size=1))
    assert [tree.num_nodes for tree in trees[1:]] == list(range(2, 21))


@pytest.mark.usefixtures("ray_data")
def test_graphs_that_are_lists_of_pairs(bridge):
    trees = list(coding_trees_over_ray([bridge, bridge[:3]], height=2))
    assert [round(tree.entropy, 4) for tree in trees] == [1.6995, 1.39]


def test_trees_of_a_ray_dataset(bridge, ray_data):
    dataset = ray_data.from_items([{"graph": np.array(bridge)}] * 3)
    trees = list(coding_trees_over_ray(dataset, height=2))
    assert [round(tree.entropy, 4) for tree in trees] == [1.6995] * 3


def test_bad_options_are_told_at_once():
    with pytest.raises(ValueError, match="method must be one of"):
        next(coding_trees_over_ray([], method="magic"))
