"""The examples run and print the expected results."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(capsys):
    def run(name: str) -> str:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_karate_prints_table_and_draws(tmp_path):
    picture = tmp_path / "karate.png"
    command = [sys.executable, EXAMPLES / "karate.py", "--picture", picture]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "33 of 34 members" in done.stdout
    assert picture.stat().st_size > 10_000


def test_planted_recovers_all_regions(run):
    assert "10 of 10 regions recovered exactly" in run("planted")


def test_demo_compares_models_and_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLES)
    import demo

    for name, value in {"GRAPHS": 80, "SEEDS": 2, "EPOCHS": 2}.items():
        monkeypatch.setattr(demo, name, value)
    monkeypatch.setattr(sys, "argv", ["demo.py", "--picture", str(tmp_path / "demo.png")])
    demo.main()
    printed = capsys.readouterr().out
    assert "33 of 34 members" in printed
    assert len(re.findall(r"^(?:SEP-G|plain GCN) +6,322 +[\d.]+ \+- [\d.]+ %", printed, re.M)) == 2
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def percents(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"(\d+)%", text)]


def test_pool_a_batch_returns_to_the_nodes(run):
    output = run("pool_a_batch")
    assert "level 3:   3 nodes ([1, 1, 1] a graph)" in output
    assert "sizes of the graphs: [20, 50, 100]" in output


def test_train_sepg_reaches_80_percent(run):
    assert percents(run("train_sepg"))[-1] >= 80


def test_train_sepn(run):
    output = run("train_sepn")
    assert percents(output)[-1] >= 65


def test_own_model_lowers_the_loss(run):
    output = run("own_model")
    assert "(pool): SEPooling(reduce='mean', pooled='weighted')" in output
    first, *_, last = (float(loss) for loss in re.findall(r"loss ([\d.]+)", output))
    assert last < first


def test_feature_weights_raise_the_purity(run):
    structure, features = percents(run("feature_weights"))
    assert features > structure


@pytest.mark.heavy
def test_lightning_checkpoint_has_the_trees_and_logits_of_the_model(run, monkeypatch):
    pytest.importorskip("lightning")
    monkeypatch.syspath_prepend(EXAMPLES)
    output = run("lightning_sep")
    assert percents(output)[0] >= 65
    assert "AddCodingTree(height=3, method='best', seed=7," in output
    assert "equal trees: True\nequal logits: True\n" in output


@pytest.mark.heavy
def test_graphgym_trains_the_registered_network():
    for package in ("lightning", "yacs", "sklearn"):
        pytest.importorskip(package)
    command = [sys.executable, EXAMPLES / "graphgym_sep.py"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "(model): SEPG(16, 32, 1, height=3, conv=GCN, blocks=3)" in output
    parts = re.findall(r"^(train|val|test): loss ([\d.]+), accuracy \d+%$", output, re.MULTILINE)
    assert [part for part, _ in parts] == ["train", "val", "test"]
    assert all(0 < float(loss) < 1 for _, loss in parts)
