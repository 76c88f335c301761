from __future__ import annotations

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from sepool.large import coding_tree


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": [0], "b": [1], "c": [2], "d": [3]}, {}, "the columns are a, b, c, d"),
        (
            {"source": [0], "target": [1]},
            {"columns": ("source", "to")},
            "no column 'to'; the columns are source, target",
        ),
        ({"source": [0, None], "target": [1, 2]}, {}, "1 rows have no id at one end"),
        ({"source": [0, 1], "target": [1, 2], "weight": [1, None]}, {}, "1 weights are null"),
        ({"source": [0, 1], "target": [1, 2], "weight": [1, -2]}, {}, "1 weights are negative"),
        (
            {"source": [0, 1], "target": [1, 2], "weight": [0.5, 0.25]},
            {},
            r"2 weights are no whole numbers; pass scale=100 \(--scale 100\)",
        ),
        (
            {"source": [0, 1], "target": [1, 2], "weight": [1 / 3, 0.25]},
            {},
            "pass scale=1e6",
        ),
        (
            {"source": [0, 1], "target": [1, 2], "weight": [1.0, float("inf")]},
            {},
            "1 weights are not finite",
        ),
        (
            {"source": [0, 1], "target": [1, 2], "weight": [2**50, 1]},
            {},
            r"the weights sum up to 1.13e\+15",
        ),
        ({"source": [], "target": []}, {}, "the input has no rows"),
    ],
)
def test_coding_tree_bad_input_raises_error(write, tmp_path, columns, options, message):
    with pytest.raises(ValueError, match=message):
        coding_tree(write(**columns), output=tmp_path / "labels.parquet", **options)


def test_coding_tree_weights_can_be_ignored(write, tmp_path):
    path = write(source=[0, 1], target=[1, 2], weight=[0.5, -1])
    result = coding_tree(path, height=1, weighted=False, output=tmp_path / "labels.parquet")
    assert result.entropy == 1.5


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        ("none.parquet", FileNotFoundError, "no file matches .*none.parquet"),
        ("edges.txt", ValueError, "must end in one of .parquet"),
        ("both", ValueError, "expected Parquet or CSV, got both"),
    ],
)
def test_coding_tree_wrong_files_raise_error(write, tmp_path, edges, error, message):
    (tmp_path / "edges.txt").write_text("0 1\n")
    (tmp_path / "both").mkdir()
    write("both/edges.parquet", source=[0], target=[1])
    (tmp_path / "both" / "edges.csv").write_text("source,target\n0,1\n")
    with pytest.raises(error, match=message):
        coding_tree(tmp_path / edges, output=tmp_path / "labels.parquet")
