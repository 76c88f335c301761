from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.large.conftest import labels_of, planted

from sepool.large import coding_tree

KILLS = int(os.environ.get("SEPOOL_KILLS", "10"))
RUN = """
import sys
from sepool.large import coding_tree
coding_tree(sys.argv[1], height=3, memory="60kB", folder=sys.argv[2], output=sys.argv[3])
"""


def steps_of(folder) -> list[str]:
    manifest = folder / "manifest.json"
    return list(json.loads(manifest.read_text())["steps"]) if manifest.exists() else []


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_coding_tree_killed_ten_times_and_resumed_writes_the_same_labels(write, tmp_path):
    u, v = planted(2000)
    path = write(source=u, target=v, weight=np.arange(len(u)) % 3 + 1)
    whole = tmp_path / "whole.parquet"
    coding_tree(path, height=3, memory="60kB", output=whole)
    rng, output, kills, resumed = np.random.default_rng(0), tmp_path / "labels.parquet", 0, 0
    folder = tmp_path / "run 0"
    while kills < KILLS:
        done = len(steps_of(folder))
        run = subprocess.Popen([sys.executable, "-c", RUN, str(path), str(folder), str(output)])
        goal = done + int(rng.integers(0, 6))
        while len(steps_of(folder)) < goal and run.poll() is None:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.5)
        run.send_signal(signal.SIGKILL)
        if run.wait() == -signal.SIGKILL:
            kills += 1
            resumed += done > 0
            continue
        assert labels_of(output) == labels_of(whole)
        output.unlink()
        folder = tmp_path / f"run {kills}"
    assert resumed > KILLS // 2
    reports = []
    done = len(steps_of(folder))
    result = coding_tree(
        path, height=3, memory="60kB", folder=folder, output=output, progress=reports.append
    )
    assert labels_of(output) == labels_of(whole)
    assert result.folder == str(folder)
    assert len(steps_of(folder)) == done + len(reports)


def test_coding_tree_complete_folder_runs_no_step_again(write, tmp_path):
    path = write(source=[0, 1, 2], target=[1, 2, 0])
    options = {"height": 2, "folder": tmp_path / "run", "output": tmp_path / "labels.parquet"}
    first = coding_tree(path, **options)
    reports = []
    assert coding_tree(path, **options, progress=reports.append) == first
    assert reports == []


def test_coding_tree_folder_of_another_run_raises_error(write, tmp_path):
    path = write(source=[0, 1, 2], target=[1, 2, 0])
    options = {"height": 2, "folder": tmp_path / "run", "output": tmp_path / "labels.parquet"}
    coding_tree(path, **options)
    with pytest.raises(ValueError, match="run has a run with height=2, not height=3; choose"):
        coding_tree(path, **{**options, "height": 3})
    with pytest.raises(ValueError, match=r"has a run on .*edges.parquet, not on .*other.parquet"):
        coding_tree(write("other.parquet", source=[0], target=[1]), **options)
    write(source=[0, 1, 2, 3], target=[1, 2, 0, 0])
    with pytest.raises(ValueError, match=r"edges\.parquet as it is now"):
        coding_tree(path, **options)
    (tmp_path / "run" / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="is no manifest of a run"):
        coding_tree(path, **options)


def test_coding_tree_folder_that_is_not_writable_raises_error(write, tmp_path):
    path = write(source=[0], target=[1])
    (tmp_path / "file").touch()
    with pytest.raises(PermissionError, match=r"the folder .*file/run is not writable"):
        coding_tree(path, folder=tmp_path / "file" / "run", output=tmp_path / "labels.parquet")


def test_coding_tree_full_disk_raises_error(write, tmp_path, monkeypatch):
    path = write(source=[0], target=[1])
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 100, 0))
    with pytest.raises(OSError, match="GB free, the tables need about"):
        coding_tree(path, folder=tmp_path / "run", output=tmp_path / "labels.parquet")


@pytest.mark.skipif(os.name == "nt", reason="needs resource limits")
def test_coding_tree_disk_that_fills_up_raises_one_line(write, tmp_path):
    u, v = planted(60_000)
    path = write(source=u, target=v)
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)){RUN}"
    paths = [path, tmp_path / "run", tmp_path / "labels.parquet"]
    command = [sys.executable, "-c", limited, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "OSError: DuckDB ran out of memory or of disk" in done.stderr.splitlines()[-1]


def test_coding_tree_spark_without_java_names_the_package(write, tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    path = write(source=[0], target=[1])
    with pytest.raises(FileNotFoundError, match="install openjdk-17-jre-headless"):
        coding_tree(path, engine="spark", output=tmp_path / "labels.parquet")
