from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sepool[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("no Java: install openjdk-17-jre-headless", allow_module_level=True)

from tests.large.conftest import labels_of, planted
from tests.large.test_rounds import check_rounds

from sepool.large import batches, coding_tree, rounds

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def python():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        yield


def test_rounds_on_spark_equal_reference(tmp_path):
    from sepool.large.spark import SparkEngine

    engine = SparkEngine(tmp_path, 10**9, 2, "local[2]")
    try:
        check_rounds(engine, seed=0, num_rounds=2)
    finally:
        engine.close()


def test_coding_tree_labels_are_those_of_duckdb(write, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "ROUNDS", 2)
    u, v = planted(1200)
    names = [[f"node {x}" for x in ends] for ends in (u, v)]
    path = write(source=names[0], target=names[1], weight=np.arange(len(u)) % 4 + 1)
    results = []
    for engine in ("duckdb", "spark"):
        output = tmp_path / f"{engine}.parquet"
        result = coding_tree(path, height=3, memory=50_000, engine=engine, threads=2, output=output)
        assert result.rounds > 3
        results.append((result.counts, result.repeated, result.self_loops, labels_of(output)))
    assert results[0] == results[1]


def executors() -> list[int]:
    """Process ids of the executors of this process's session."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    lines = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    own = [line for line in lines.stdout.splitlines() if context.applicationId in line]
    return [int(line.split()[0]) for line in own if "CoarseGrainedExecutorBackend" in line]


def test_coding_tree_with_killed_workers_writes_the_same_labels(write, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "ROUNDS", 1)
    monkeypatch.setattr(batches, "SWEEPS", 1)
    u, v = planted(2000)
    path = write(source=u, target=v)
    coding_tree(path, height=2, memory=120_000, output=tmp_path / "duckdb.parquet")
    killed = []

    def progress(report):
        if report.step.startswith(("level 1, moves 1", "sweep 1, batch 1")):
            deadline = time.monotonic() + 100
            while not executors() and time.monotonic() < deadline:  # the last one was killed
                time.sleep(0.1)
            os.kill(executors()[0], signal.SIGKILL)
            killed.append(report.step)

    options = {"engine": "spark", "master": "local-cluster[2,1,1024]", "progress": progress}
    output = tmp_path / "spark.parquet"
    coding_tree(path, height=2, memory=120_000, output=output, **options)
    assert len(killed) == 2
    assert labels_of(output) == labels_of(tmp_path / "duckdb.parquet")


def test_coding_tree_unreachable_cluster_raises_error(write, tmp_path):
    with pytest.raises(ValueError, match=r"no Spark cluster answers at spark://127\.0\.0\.1:9"):
        coding_tree(
            write(source=[0], target=[1]),
            engine="spark",
            master="spark://127.0.0.1:9",
            output=tmp_path / "labels.parquet",
        )
