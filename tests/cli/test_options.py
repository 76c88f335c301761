from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("typer")

from sepool.cli.options import Search, print_json


def search(**changes) -> Search:
    defaults = {"height": 2, "method": "best", "seed": 0}
    return Search(**{**defaults, "unweighted": False, "self_loops": False, **changes})


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("a b 3\nb c 1\nc c 5\n")
    return str(path)


def test_search_read_with_weights_and_loops_follows_the_options(path):
    assert search().read(path).degrees().tolist() == [3, 4, 1]
    assert search(unweighted=True).read(path).degrees().tolist() == [1, 2, 1]
    assert search(self_loops=True).read(path).degrees().tolist() == [3, 4, 11]


def test_search_run_returns_tree_graph_and_duration(path):
    result = search(height=3, method="fast").run(path)
    assert (result.tree.height, result.tree.num_nodes, result.graph.num_edges) == (3, 3, 2)
    assert result.seconds > 0


def test_search_with_wrong_height_raises():
    with pytest.raises(ValueError, match="height must be 1 to 64, got 0"):
        search(height=0)


def test_print_json_of_any_value_is_valid(capsys):
    value = {"a": math.inf, "b": (1, True, None), "c": Path("x"), "d": {1: math.nan}, "e": 0.1}
    print_json(value)
    assert json.loads(capsys.readouterr().out) == {
        "a": None,
        "b": [1, True, None],
        "c": "x",
        "d": {"1": None},
        "e": 0.1,
    }
