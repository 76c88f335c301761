"""Training of one PyG model on one task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from sepool_experiments.data.tasks.catalog import TASKS
from sepool_experiments.data.tasks.task import Task, edge_blocks, split_in_order
from sepool_experiments.engine import single
from sepool_experiments.engine.single import Scale, train
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.longrange import FLAT_NET, TREE_NET
from sepool_experiments.protocols.units import Config, Unit

PROTOCOL = PROTOCOLS["longrange-quick"]
SIZES = (48, 16, 16)
PATH = np.array([(0, 1), (1, 2), (2, 3)])


def marked(target="graph", metric="accuracy"):
    """Paths of four nodes, one of them marked; the class is the half that the mark is in."""
    rng, count = np.random.default_rng(0), sum(SIZES)
    mark = rng.integers(4, size=count)
    x = np.stack([np.eye(4)[mark].ravel(), np.tile([0, 0, 1, 1], count)], axis=1)
    y = (mark > 1).astype(np.int64)
    if target == "node":
        y = np.where(np.arange(4) == 0, y[:, None], -1).ravel()
    if metric == "mae":
        y = 10 * y.astype(np.float32)
    return Task(
        "marked", np.array([4]), edge_blocks([PATH]), x.astype(np.float32), y,
        **split_in_order(*SIZES), metric=metric, target=target,
    )  # fmt: skip


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Train units on a task of marked paths."""

    def trained(task, tree="best", seed=0, epochs=12, **settings):
        single._batches.cache_clear()
        monkeypatch.setitem(TASKS, "match-3", lambda root, name: replace(task, name=name))
        extra = (("epochs", epochs), ("layers", 2))
        config = Config(hidden=16, lr=0.02, batch=16, extra=extra)
        system = TREE_NET if tree else FLAT_NET
        unit = Unit(PROTOCOL.name, "match-3", system, tree, config, fold=0, seed=seed)
        root = tmp_path / f"{task.target}-{task.metric}"
        (result,) = train([unit], PROTOCOL, root)
        return result

    yield trained
    single._batches.cache_clear()


@pytest.mark.parametrize("tree", ["best", "random", ""])
@pytest.mark.parametrize("target", ["graph", "node"])
def test_train_learns_classes(trained, tree, target):
    result = trained(marked(target), tree)
    assert result.val_accuracy >= 0.9
    assert result.test_accuracy >= 0.9
    assert result.epochs == 12
    assert 1 <= result.best_epoch <= 12
    assert len(result.curve) == 12


def test_train_learns_numbers(trained):
    result = trained(marked(metric="mae"), epochs=40)
    assert -2 < result.test_accuracy <= 0


def test_train_same_seed_is_repeated_and_another_differs(trained):
    first, second, other = (trained(marked(), seed=seed, epochs=3) for seed in (1, 1, 2))
    assert (first.val_loss, first.test_accuracy) == (second.val_loss, second.test_accuracy)
    assert first.val_loss != other.val_loss
    assert first.curve is None


def test_score_of_classes_ignores_masked_nodes():
    out, y = torch.eye(3), torch.tensor([0, 2, -1])
    assert Scale("accuracy").score(out, y) == 0.5


def test_score_auc_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    out, y = rng.normal(size=(50, 2)), rng.integers(2, size=50)
    score = Scale("auc").score(torch.from_numpy(out), torch.from_numpy(y))
    assert score == pytest.approx(roc_auc_score(y, out[:, 1] - out[:, 0]))


def test_score_of_numbers_is_the_mean_absolute_error():
    scale = Scale("mae", mean=10.0, deviation=2.0)
    out, y = torch.tensor([[0.0], [1.0]]), torch.tensor([10.0, 13.0])
    assert scale.score(out, y) == -0.5
    assert float(scale.loss(out, y)) == 0.25


def test_scale_is_that_of_the_training_set():
    task = marked(metric="mae")
    scale, targets = Scale.of(task), task.y[task.train]
    assert (scale.mean, scale.deviation) == pytest.approx((targets.mean(), targets.std()))
