"""The examples about training run, and show what they promise."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(capsys):
    def printed(name: str) -> str:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return printed


def percents(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"(\d+)%", text)]


def test_pool_a_batch(run):
    output = run("pool_a_batch")
    assert "level 3:   3 nodes ([1, 1, 1] a graph)" in output
    assert "how large it is: [20, 50, 100]" in output


def test_train_sepg(run):
    assert percents(run("train_sepg"))[-1] >= 80


def test_train_sepn(run):
    output = run("train_sepn")
    assert percents(output)[-2] >= 70
    assert "over 10 models" in output


def test_own_model(run):
    output = run("own_model")
    assert "(pool): SEPooling(reduce='mean', pooled='weighted')" in output
    first, *_, last = (float(loss) for loss in re.findall(r"loss ([\d.]+)", output))
    assert last < first


def test_feature_weights(run):
    structure, features = percents(run("feature_weights"))
    assert features > structure
