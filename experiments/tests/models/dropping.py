"""Whether the layers of dropout in a model have an effect."""

from __future__ import annotations

import torch

from sepool_experiments.layers.dropout import Dropout


def drops_of(model):
    """All layers of dropout."""
    return [layer for layer in model.modules() if isinstance(layer, Dropout)]


def assert_every_dropout_drops(model, prepared):
    """Each alone changes what a model in training finds, and without them it is as it was."""
    drops = drops_of(model.train())
    for drop in drops:
        drop.rate = 0.0

    def logits():
        torch.manual_seed(0)
        return model(prepared)

    before = logits()
    for drop in drops:
        drop.rate = 0.9
        assert not torch.equal(logits(), before), (drop.salt, drop.option)
        drop.rate = 0.0
    assert torch.equal(logits(), before)
