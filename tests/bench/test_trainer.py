"""The trainer: groups, splits, and what happens when memory runs out."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from sepool.bench import trainer
from sepool.bench.lockstep import Lockstep


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
    results = list(trainer.train(units, short, data, say=said.append))
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
