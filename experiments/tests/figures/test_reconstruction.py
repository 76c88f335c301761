from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from sepool_experiments.figures.journal import by_line
from sepool_experiments.figures.reconstruction import Autoencoder, Reconstruction, make_autoencoder
from sepool_experiments.figures.shapes import pick_level


def train(units, figure, shape):
    return {found.unit.seed: found for found in Reconstruction(units, figure, shape).rebuilt()}


@pytest.mark.parametrize("line", range(10))
def test_a_replica_trains_as_it_would_alone(line, short, shapes):
    units = by_line(short.units(["ring"]))[line]
    both = train(units, short, shapes["ring"])
    assert sorted(both) == [0, 1]
    for unit in units:
        (alone,) = train([unit], short, shapes["ring"]).values()
        assert alone.mse == pytest.approx(both[unit.seed].mse, rel=1e-4, abs=1e-6)
        assert np.allclose(alone.points, both[unit.seed].points, atol=1e-4)
        assert alone.best_epoch == both[unit.seed].best_epoch


def test_the_error_is_that_of_the_points(short, shapes):
    shape = shapes["grid"]
    for units in by_line(short.units(["grid"], ["SEP", "MinCutPool"], ["best"])):
        for found in train(units, short, shape).values():
            assert found.points.shape == (16, 2)
            assert found.mse == pytest.approx(((found.points - shape.points) ** 2).mean(), rel=1e-4)


def test_training_lowers_the_error(short, shapes):
    units = short.units(["ring"], ["SEP"], ["best"])
    before = train(units, replace(short, epochs=1), shapes["ring"])
    after = train(units, replace(short, epochs=60), shapes["ring"])
    assert all(after[seed].mse < 0.5 * before[seed].mse for seed in (0, 1))


def test_stops_without_improvement(short, shapes):
    units = short.units(["ring"], ["TopKPool"])
    for found in train(units, replace(short, epochs=400, patience=5), shapes["ring"]).values():
        assert found.epochs == min(found.best_epoch + 5, 400)


def test_no_loss_but_the_error(shapes):
    data = shapes["ring"].data()
    for losses in (True, False):
        model = make_autoencoder("DiffPool", 4, 12, 2, None, losses)
        assert isinstance(model, Autoencoder)
        assert model(model.prepare(data)).shape == (12, 2, 2)
        assert (model.auxiliary is not None) == losses


def test_all_systems_have_equally_many_layers(shapes):
    pick = pick_level(shapes["ring"])
    models = [
        make_autoencoder("TopKPool", 4, 12, 1, None),
        make_autoencoder("SEP", 4, 12, 1, pick),
    ]
    widths = [[conv.linear.weight.shape for conv in model.convs] for model in models]
    assert widths[0] == widths[1]
