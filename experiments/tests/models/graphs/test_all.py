"""What holds for every baseline: replicas, invariance, recording, learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from experiments.tests.models.checks import NoHostSync, assert_every_dropout_drops, drops_of
from experiments.tests.models.toys import (
    BASELINES,
    NODES,
    batch_of,
    build,
    graph_set,
    permuted,
    random_set,
    store_of,
)

from sepool_experiments.engine.lockstep import Lockstep, Split, losses
from sepool_experiments.engine.trainer import group_units
from sepool_experiments.models.systems import SYSTEMS
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.units import Config, Unit

LOCKSTEP = [name for name in BASELINES if SYSTEMS[name].lockstep]
IDS = [[2, 3, 4, 5], [12, 7, 0, 8], [1, 1, 10, 11]]  # 12 is no graph


def objective(model, batch):
    logits = batch.by_replica(model(batch))
    loss = losses(logits, batch.y, batch.graph_mask).sum(1) / batch.graph_mask.sum(1)
    return loss if model.auxiliary is None else loss + model.auxiliary


def test_all_systems_of_the_table_are_here():
    assert {*BASELINES, "SEP-G"} == set(PROTOCOLS["table1"].systems)


@pytest.mark.parametrize("name", LOCKSTEP)
@pytest.mark.parametrize("settings", [{}, {"readout": "mean", "input_link": True}], ids=str)
def test_replica_equals_model_alone(name, settings):
    store = store_of(random_set(), name, link=bool(settings))
    batch, model = batch_of(store, IDS), build(name, store, len(IDS), **settings)
    loss = objective(model, batch)
    loss.sum().backward()
    for r, ids in enumerate(IDS):
        alone = build(name, store, None, **settings)
        for mine, all_of_them in zip(alone.parameters(), model.parameters(), strict=True):
            mine.data = all_of_them.data[r].view(mine.shape).clone()
        alone_loss = objective(alone, batch_of(store, [ids]))
        alone_loss.sum().backward()
        torch.testing.assert_close(alone_loss[0], loss[r], atol=1e-5, rtol=1e-5)
        for mine, all_of_them in zip(alone.parameters(), model.parameters(), strict=True):
            assert mine.grad is not None
            assert bool(mine.grad.isfinite().all())
            theirs = all_of_them.grad[r].view(mine.shape)
            torch.testing.assert_close(mine.grad, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", BASELINES)
def test_every_weight_gets_a_gradient(name):
    store = store_of(random_set(), name)
    model = build(name, store)
    objective(model, batch_of(store)).sum().backward()
    for weight, parameter in model.named_parameters():
        assert parameter.grad is not None, weight
        if not weight.endswith("bias") and "pool_last" not in weight:  # may cancel in a softmax
            assert parameter.grad.abs().sum() > 0, weight


@pytest.mark.parametrize("name", BASELINES)
def test_order_of_nodes_plays_no_role(name):
    graphs = random_set()
    store, other = store_of(graphs, name), store_of(permuted(graphs), name)
    model = build(name, store).eval()
    with torch.no_grad():
        logits, again = (
            batch.by_replica(model(batch)) for batch in (batch_of(store), batch_of(other))
        )
    torch.testing.assert_close(logits, again, atol=1e-4, rtol=1e-4)
    assert logits.std(1).min() > 1e-4  # and graphs differ


@pytest.mark.parametrize("name", LOCKSTEP)
def test_a_step_can_be_recorded(name):
    store = store_of(random_set(), name)
    ids = torch.tensor(IDS)
    shape, model = store.capacity(ids), build(name, store, len(IDS))
    with NoHostSync():
        objective(model, store.batch(ids, shape)).sum().backward()


def cycles_and_trees(count: int):
    """Cycles, and trees of as many nodes with many leaves."""
    draw, matrices = np.random.default_rng(0), []
    for i in range(count):
        n = int(draw.integers(6, 13))
        matrix, nodes = np.zeros((n, n), bool), np.arange(n)
        above = nodes - 1 if i % 2 else draw.integers(0, np.clip(nodes, 1, 3))
        matrix[nodes[1:], above[1:]] = True
        matrix[0, n - 1] |= bool(i % 2)
        matrices.append(matrix | matrix.T)
    return graph_set(matrices, [i % 2 for i in range(count)])


def trainings(name, protocol, configs):
    """Trainings on the toy set: one seed and fold a configuration, other seeds."""
    store = store_of(cycles_and_trees(140), name)
    units = [
        Unit("table1", "MUTAG", name, "", config, fold=0, seed=seed)
        for seed, config in enumerate(configs)
    ]

    def model(replicas):
        sizes = (store.num_features, store.num_classes)
        return SYSTEMS[name].build(*sizes, configs[0], replicas, nodes=NODES)

    def run(units):
        parts = [torch.arange(*ends) for ends in ((80,), (80, 100), (100, 140))]
        split = Split(*(part.expand(len(units), -1) for part in parts))
        return {r.unit: r for r in Lockstep(units, protocol, store, split, model).run()}

    return units, run


@pytest.mark.parametrize("name", BASELINES)
def test_learns_to_tell_cycles_from_trees(name):
    protocol = replace(PROTOCOLS["table1"], epochs=12, patience=12, steps=10)
    units, run = trainings(name, protocol, [Config(hidden=16, lr=1e-2, batch=24)] * 2)
    results = run(units)
    assert len(results) == len(units)
    assert all(result.test_accuracy > 0.95 for result in results.values())


@pytest.mark.parametrize("name", ["GIN", "DiffPool"])
def test_replicas_that_stop_early_leave_the_others_alone(name):
    """What is kept beside the weights and the best of it go with every replica."""
    protocol = replace(PROTOCOLS["table1"], epochs=7, patience=1, steps=2)
    rates = (1e-3, 1e-2, 1e-1)
    configs = [Config(hidden=16, lr=lr, batch=24, dropout=0.5 * (lr < 0.1)) for lr in rates]
    units, run = trainings(name, protocol, configs)
    together = run(units)
    assert len({result.epochs for result in together.values()}) > 1
    for unit in units:
        (alone,) = run([unit]).values()
        both = (alone, together[unit])
        assert len({(r.epochs, r.best_epoch, round(r.test_accuracy, 4)) for r in both}) == 1
        assert both[0].val_loss == pytest.approx(both[1].val_loss, rel=1e-3)


def test_what_cannot_run_together_runs_alone(monkeypatch):
    units = PROTOCOLS["table1"].units(["MUTAG"], ["GCN"], seeds=1, folds=3, configs=[0])
    assert [len(group) for group in group_units(units)] == [3]
    monkeypatch.setitem(SYSTEMS, "GCN", replace(SYSTEMS["GCN"], lockstep=False))
    assert [len(group) for group in group_units(units)] == [1, 1, 1]


@pytest.mark.parametrize("name", BASELINES)
def test_every_dropout_drops(name):
    store = store_of(random_set(), name)
    batch, model = batch_of(store, [[2, 3, 4, 5]]), build(name, store, None)
    assert len(drops_of(model)) == 2
    assert_every_dropout_drops(model, batch)


def test_a_model_is_told_the_average_number_of_nodes_and_its_dropout():
    model = SYSTEMS["DiffPool"].build(5, 2, Config(hidden=8, dropout=0.25), None, 40)
    assert (model.nodes, model.clusters()) == (40, 10)
    assert {drop.rate for drop in drops_of(model)} == {0.25}


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("replicas", [None, 3])
def test_rows_of_a_table_are_the_rows_of_nodes(name, replicas):
    """A model may be given the rows of its nodes, or a table and where they are in it."""
    graphs, results = random_set(), []
    model = build(name, store_of(graphs, name), replicas)
    for row_indexed in (False, True):
        store = store_of(graphs, name, row_indexed=row_indexed)
        batch = batch_of(store, IDS[: replicas or 1])
        assert (batch.row_index is not None, batch.multiplicity) == (row_indexed, None)
        model.zero_grad()
        loss = objective(model, batch)
        loss.sum().backward()
        results.append([loss, *(p.grad.clone() for p in model.parameters() if p.grad is not None)])
    for rows, table in zip(*results, strict=True):
        torch.testing.assert_close(table, rows, atol=1e-6, rtol=1e-5)
