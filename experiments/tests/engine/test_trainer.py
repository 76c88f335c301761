"""The trainer: groups, splits, and what happens when memory runs out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from sepool_experiments.engine import trainer
from sepool_experiments.engine.lockstep import Lockstep


@pytest.fixture
def short(protocol):
    return replace(protocol, epochs=2, steps=2)


def test_every_unit_once(short, data):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=2, folds=3)
    results = list(trainer.train(units, short, data))
    assert [r.unit for r in results] != []
    assert sorted(r.unit.key for r in results) == sorted(unit.key for unit in units)


def test_folds(short, data):
    """Fold k tests, the one before it validates, the rest trains."""
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=[0, 3], configs=[0])
    split = trainer._split(units, data, short, "cpu")
    assert split.test.tolist() == [[0, 10], [3, 13]]
    assert split.val.tolist() == [[9, 19], [2, 12]]
    for row in range(2):
        parts = [*split.train[row].tolist(), *split.val[row].tolist(), *split.test[row].tolist()]
        assert sorted(parts) == list(range(20))


def test_out_of_memory_halves_the_replicas_and_says_so(short, data, monkeypatch):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=2, folds=4, configs=[0])
    run, said = Lockstep.run, []

    def with_little_memory(self):
        if len(self.units) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return run(self)

    monkeypatch.setattr(Lockstep, "run", with_little_memory)
    results = list(trainer.train(units, short, data, log=said.append))
    assert sorted(r.unit.key for r in results) == sorted(unit.key for unit in units)
    assert len(said) == 1
    assert "out of memory with 8 replicas" in said[0]


def test_a_replica_that_does_not_fit_alone_is_an_error(short, data, monkeypatch):
    def no_memory(self):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Lockstep, "run", no_memory)
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=1, configs=[0])
    with pytest.raises(torch.OutOfMemoryError):
        list(trainer.train(units, short, data))


def test_models_and_stores_follow_the_configuration(short, data):
    """What only some protocols ask for: binary pooled graphs, summed inputs, PyTorch's weights."""
    usual = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=1, configs=[0])
    extra = (("init", "torch"), ("norm", True))
    config = replace(usual[0].config, pooled="binary", input_link=True, blocks=2, extra=extra)
    plain, other = (
        trainer.make_lockstep([replace(usual[0], config=c)], short, data, "cpu")
        for c in (usual[0].config, config)
    )
    for step, changed in ((plain, False), (other, True)):
        assert step.store.binary == changed
        assert (step.store.input_sums is not None) == changed
        assert bool(step.model.norms) == changed
        assert (step.model.first.init == "torch") == changed
        assert step.model.blocks == (2 if changed else 3)
        assert step.store.conv_levels == (0, 1, 2)


def test_models_know_the_average_number_of_nodes(short, data):
    units = short.units(["MUTAG"], ["DiffPool"], seeds=1, folds=1, configs=[0])
    step = trainer.make_lockstep(units, short, data, "cpu")
    assert step.model.nodes == math.ceil(step.store.graphs.nodes.mean())


def test_only_passes_of_equally_many_batches_run_together(short, data, monkeypatch):
    """A batch of nothing but padding would have no loss."""
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=3, configs=[0])
    parts = ([0, 1], [2], [3, 4, 5], *([i] for i in range(6, 13)))
    folds = [np.array(part) for part in parts]
    monkeypatch.setattr(trainer, "load_folds", lambda *_: folds)
    whole = replace(short, full_pass=("MUTAG",))
    units = [replace(unit, config=replace(unit.config, batch=8)) for unit in units]
    counts = [[unit.fold for unit in part] for part in trainer._by_batch_count(units, whole, data)]
    trains = [20 - len(folds[k]) - len(folds[k - 1]) for k in range(3)]
    assert trains == [17, 17, 16]
    assert counts == [[0, 1], [2]]
    assert trainer._by_batch_count(units, short, data) == [units]
