"""Road networks and graphs of GCB in files."""

from __future__ import annotations

import numpy as np
import pytest

from sepool_experiments.data.tasks.files import gcb_task, read_roads


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "LongRange").mkdir()
    return tmp_path


def write_gcb(folder, parts=(3, 1, 2)):
    arrays = {}
    for part, count in zip(("tr", "val", "te"), parts, strict=True):
        arrays[f"{part}_nodes"] = np.full(count, 3)
        arrays[f"{part}_edge_counts"] = np.full(count, 2)
        arrays[f"{part}_edges"] = np.tile([(0, 1), (1, 2)], (count, 1))
        arrays[f"{part}_colour"] = np.tile([0, 1, 4], count)
        arrays[f"{part}_class"] = np.arange(count) % 2
    np.savez(folder / "LongRange" / "gcb.npz", **arrays)


def test_read_roads_largest_component_without_duplicates(folder):
    lines = "6 5\n2 1\n5 6\n3 2\n2 3\n3 3\n"
    (folder / "LongRange" / "town.edges").write_text(lines)
    assert read_roads(folder, "town").tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("lines", ["3 2\n1 2\n", "3 1\n1 4\n", "3 1\n0 1\n"])
def test_read_roads_wrong_file_is_named(folder, lines):
    (folder / "LongRange" / "town.edges").write_text(lines)
    with pytest.raises(ValueError, match=r"town\.edges: expected . edges of nodes 1 to 3, got 1"):
        read_roads(folder, "town")


def test_read_roads_missing_file_is_named(folder):
    with pytest.raises(ValueError, match=r"town\.edges is missing; copy it there .*set --data"):
        read_roads(folder, "town")


def test_gcb_task_has_its_own_split(folder):
    write_gcb(folder)
    task = gcb_task(folder, "GCB", "gcb.npz")
    assert [part.tolist() for part in (task.train, task.val, task.test)] == [[0, 1, 2], [3], [4, 5]]
    assert task.y.tolist() == [0, 1, 0, 0, 0, 1]
    assert task.x.shape == (18, 5)
    assert task.x.argmax(axis=1).tolist() == [0, 1, 4] * 6
    assert list(zip(task.edges.row[:4], task.edges.col[:4], strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 1),
    ]
