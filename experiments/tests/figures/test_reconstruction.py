from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from sepool_experiments.figures.journal import by_line
from sepool_experiments.figures.poolings import ReplicatedGraph
from sepool_experiments.figures.reconstruction import Autoencoder, Reconstruction


def train(units, figure, shape):
    rebuilt = Reconstruction(units, figure, shape).rebuilt()
    return {result.unit.seed: (result, points) for result, points in rebuilt}


@pytest.mark.parametrize("line", range(10))
def test_replica_equals_single_training(line, short, small):
    units, shape = by_line(short.units(["ring"]))[line], small["ring"]()
    both = train(units, short, shape)
    assert sorted(both) == [0, 1]
    for unit in units:
        ((alone, points),) = train([unit], short, shape).values()
        result, all_points = both[unit.seed]
        assert alone.val_loss == pytest.approx(result.val_loss, rel=1e-4, abs=1e-6)
        assert np.allclose(points, all_points, atol=1e-4)
        assert alone.best_epoch == result.best_epoch


def test_loss_equals_error_of_points(short, small):
    shape = small["grid"]()
    for units in by_line(short.units(["grid"], ["SEP", "MinCutPool"], ["best"])):
        for result, points in train(units, short, shape).values():
            error = ((points - shape.points) ** 2).mean()
            assert points.shape == (16, 2)
            assert result.val_loss == pytest.approx(error, rel=1e-4)


def test_training_lowers_error(short, small):
    units, shape = short.units(["ring"], ["SEP"], ["best"]), small["ring"]()
    before = train(units, replace(short, epochs=1), shape)
    after = train(units, replace(short, epochs=60), shape)
    assert all(after[seed][0].val_loss < 0.5 * before[seed][0].val_loss for seed in (0, 1))


def test_training_stops_after_patience(short, small):
    units, figure = short.units(["ring"], ["TopKPool"]), replace(short, epochs=400, patience=5)
    for result, _ in train(units, figure, small["ring"]()).values():
        assert result.epochs == min(result.best_epoch + 5, 400)


def test_autoencoder_without_losses_has_no_auxiliary(small):
    graph = ReplicatedGraph.of(small["ring"]().data(), 2)
    for losses in (True, False):
        model = Autoencoder("DiffPool", 4, 12, 2, losses)
        assert model(graph).shape == (12, 2, 2)
        assert (model.auxiliary is not None) == losses


def test_tree_pooling_sums_clusters_and_copies_them_back(small):
    labels = np.arange(12) // 4
    graph = ReplicatedGraph.of(small["ring"]().data(labels), 2)
    x = torch.arange(24.0 * 4).view(24, 4)
    back = Autoencoder("SEP", 4, 12, 2).pool(x, graph)
    sums = x.view(2, 3, 4, 4).sum(2, keepdim=True)
    assert torch.equal(back, sums.expand(2, 3, 4, 4).reshape(24, 4))
