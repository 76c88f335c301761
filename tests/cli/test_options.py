from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("typer")

from sepool.cli.options import Search, print_json


def search(**changes) -> Search:
    usual = {"height": 2, "method": "best", "seed": 0}
    return Search(**{**usual, "unweighted": False, "self_loops": False, **changes})


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("a b 3\nb c 1\nc c 5\n")
    return str(path)


def test_weights_and_loops(path):
    assert search().read(path).degrees().tolist() == [3, 4, 1]
    assert search(unweighted=True).read(path).degrees().tolist() == [1, 2, 1]
    assert search(self_loops=True).read(path).degrees().tolist() == [3, 4, 11]


def test_find(path):
    found = search(height=3, method="fast").find(path)
    assert (found.tree.height, found.tree.num_nodes, found.graph.num_edges) == (3, 3, 2)
    assert found.seconds > 0


def test_bad_values_are_refused_before_a_file_is_read():
    with pytest.raises(ValueError, match="height must be 1 to 64, got 0"):
        search(height=0)


def test_json_is_valid_whatever_is_in_it(capsys):
    value = {"a": math.inf, "b": (1, True, None), "c": Path("x"), "d": {1: math.nan}, "e": 0.1}
    print_json(value)
    assert json.loads(capsys.readouterr().out) == {
        "a": None,
        "b": [1, True, None],
        "c": "x",
        "d": {"1": None},
        "e": 0.1,
    }
