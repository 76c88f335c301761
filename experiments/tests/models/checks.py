"""Checks of models: every dropout has an effect, a step needs no host."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode

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


class NoHostSync(TorchDispatchMode):
    """Refuses what makes a host wait for its device, or a shape depend on data."""

    refused = ("_local_scalar_dense", "nonzero", "_unique", "unique", "masked_select", "item")

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, _, overload = function.name().removeprefix("aten::").partition(".")
        mask = name.startswith("index") and any(
            isinstance(i, torch.Tensor) and i.dtype == torch.bool
            for i in (args[1] if isinstance(args[1], (list, tuple)) else [])
        )
        repeat = (name, overload) == ("repeat_interleave", "Tensor")
        repeat = repeat and not (kwargs or {}).get("output_size")
        if name.startswith(self.refused) or mask or repeat:
            raise AssertionError(f"{name} waits for the device")
        return function(*args, **(kwargs or {}))
