from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sepool_experiments.figures.journal import by_line
from sepool_experiments.figures.reconstruction import Autoencoder, Reconstruction, make_autoencoder
from sepool_experiments.figures.shapes import pick_level


def train(units, figure, shape):
    return {result.unit.seed: result for result in Reconstruction(units, figure, shape).rebuilt()}


@pytest.mark.parametrize("line", range(10))
def test_replica_equals_single_training(line, short, shapes):
    units = by_line(short.units(["ring"]))[line]
    both = train(units, short, shapes["ring"])
    assert sorted(both) == [0, 1]
    for unit in units:
        (alone,) = train([unit], short, shapes["ring"]).values()
        assert alone.mse == pytest.approx(both[unit.seed].mse, rel=1e-4, abs=1e-6)
        assert np.allclose(alone.points, both[unit.seed].points, atol=1e-4)
        assert alone.best_epoch == both[unit.seed].best_epoch


def test_mse_equals_error_of_points(short, shapes):
    shape = shapes["grid"]
    for units in by_line(short.units(["grid"], ["SEP", "MinCutPool"], ["best"])):
        for result in train(units, short, shape).values():
            assert result.points.shape == (16, 2)
            assert result.mse == pytest.approx(
                ((result.points - shape.points) ** 2).mean(), rel=1e-4
            )


def test_training_lowers_error(short, shapes):
    units = short.units(["ring"], ["SEP"], ["best"])
    before = train(units, replace(short, epochs=1), shapes["ring"])
    after = train(units, replace(short, epochs=60), shapes["ring"])
    assert all(after[seed].mse < 0.5 * before[seed].mse for seed in (0, 1))


def test_training_stops_after_patience(short, shapes):
    units = short.units(["ring"], ["TopKPool"])
    for result in train(units, replace(short, epochs=400, patience=5), shapes["ring"]).values():
        assert result.epochs == min(result.best_epoch + 5, 400)


def test_autoencoder_without_losses_has_no_auxiliary(shapes):
    data = shapes["ring"].data()
    for losses in (True, False):
        model = make_autoencoder("DiffPool", 4, 12, 2, None, losses)
        assert isinstance(model, Autoencoder)
        assert model(model.prepare(data)).shape == (12, 2, 2)
        assert (model.auxiliary is not None) == losses


def test_autoencoders_have_equal_convolutions(shapes):
    pick = pick_level(shapes["ring"])
    models = [
        make_autoencoder("TopKPool", 4, 12, 1, None),
        make_autoencoder("SEP", 4, 12, 1, pick),
    ]
    widths = [[conv.linear.weight.shape for conv in model.convs] for model in models]
    assert widths[0] == widths[1]
