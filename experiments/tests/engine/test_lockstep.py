"""Replicas in lockstep against a plain training loop with PyTorch's own Adam and clipping."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Batch

from sepool_experiments.batches.store import GraphStore
from sepool_experiments.engine.descent import initial_state, key_of
from sepool_experiments.engine.lockstep import Lockstep, Split
from sepool_experiments.layers.convs import GCN
from sepool_experiments.models.graphs.sep_g import SEPG
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.units import Config, Unit
from small_graphs import forest, graph_set, pyg_graphs, replica_batch

GRAPHS = graph_set(40)
TREES = forest(GRAPHS)
DATA = pyg_graphs(GRAPHS, TREES)
PROTOCOL = replace(PROTOCOLS["table1"], epochs=4, patience=3, steps=3)


def unit(fold=0, seed=0, dataset="MUTAG", **config):
    return Unit(
        "table1", dataset, "SEP-G", "best", Config(hidden=16, batch=8, **config), fold, seed
    )


def lockstep(units, protocol=PROTOCOL):
    store = GraphStore(GRAPHS, TREES, GCN)
    every = torch.arange(len(GRAPHS.y))
    parts = [(every[8:], every[:4], every[4:8]) for _ in units]
    split = Split(*(torch.stack(part) for part in zip(*parts, strict=True)))

    def build(replicas):
        return SEPG(store.num_features, 16, 2, dropout=0.5, replicas=replicas)

    return Lockstep(units, protocol, store, split, build)


def plain_training(run, index, steps, lr=lambda step: 5e-4):
    """The weights of one unit after some steps on the batches that the run draws for it."""
    model = SEPG(run.store.num_features, 16, 2)
    start = 0
    for parameter in model.parameters():
        size = parameter.numel()
        parameter.data.copy_(run.weights[index, start : start + size].view_as(parameter))
        start += size
    optimizer = torch.optim.Adam(model.parameters(), 5e-4, weight_decay=1e-4)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = lr(step)
        ids = run._draw(1 + step // 3)[step % 3, index].tolist()
        graphs = Batch.from_data_list([DATA[i] for i in ids])
        optimizer.zero_grad()
        F.cross_entropy(model(replica_batch(model, graphs)), graphs.y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), PROTOCOL.clip)
        optimizer.step()
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_trains_as_plain_pytorch_would():
    run = lockstep([unit(), unit(seed=1), unit(fold=2)])
    expected = [plain_training(run, i, steps=6) for i in range(3)]
    for epoch in (1, 2):
        run.train_epoch(epoch)
    torch.testing.assert_close(run.weights, torch.stack(expected), atol=1e-5, rtol=1e-4)


def test_cosine_schedule():
    run = lockstep([unit(schedule="cosine"), unit()], replace(PROTOCOL, epochs=500))
    expected = plain_training(run, 0, steps=6, lr=lambda step: 5e-4 * step / 3 / 50)
    for epoch in (1, 2):
        run.train_epoch(epoch)
    torch.testing.assert_close(run.weights[0], expected, atol=1e-6, rtol=1e-4)
    run.steps.fill_(1 + 3 * 275)  # half way between the warm-up and the end
    assert run._rate_now().flatten().tolist() == pytest.approx([2.5e-4, 5e-4])


def test_dropout_of_one_replica_is_not_that_of_another():
    runs = [lockstep([unit(dropout=rate)]) for rate in (0.0, 0.5)]
    for run in runs:
        run.train_epoch(1)
    assert (runs[0].weights - runs[1].weights).abs().max() > 1e-5


def test_results():
    units = [unit(seed=s) for s in range(5)]
    results = list(lockstep(units).run())
    assert {result.unit for result in results} == set(units)
    for result in results:
        assert 1 <= result.best_epoch <= result.epochs <= PROTOCOL.epochs
        assert 0 <= result.val_accuracy <= 1
        assert 0 <= result.test_accuracy <= 1
        assert math.isfinite(result.val_loss)
        assert (result.curve is None) == (result.unit.seed != 0)
    curve = next(result.curve for result in results if result.unit.seed == 0)
    assert len(curve) == next(r.epochs for r in results if r.unit.seed == 0)


def test_a_replica_that_stops_does_not_disturb_the_others():
    """Dropout included: what is random depends on the unit, not on its neighbours."""
    units = [unit(dropout=0.5, seed=s, fold=s % 2) for s in range(6)]
    protocol = replace(PROTOCOL, epochs=12, patience=1)
    together = {result.unit: result for result in lockstep(units, protocol).run()}
    assert len({result.epochs for result in together.values()}) > 1, "all stopped at once"
    for one in units:
        (alone,) = lockstep([one], protocol).run()
        assert alone.epochs == together[one].epochs
        assert alone.val_loss == pytest.approx(together[one].val_loss, abs=1e-5)
        assert alone.test_accuracy == together[one].test_accuracy


def test_best_weights_are_tested():
    run = lockstep([unit()], replace(PROTOCOL, epochs=6, patience=6))
    (result,) = run.run()
    run.weights.copy_(run.best)
    loss, accuracy = run.evaluate(run.split.val)
    assert loss.item() == pytest.approx(result.val_loss, abs=1e-6)
    assert accuracy.item() == result.val_accuracy
    assert run.evaluate(run.split.test)[1].item() == result.test_accuracy


def test_random_batches_have_no_graph_twice():
    run = lockstep([unit(), unit(seed=1)])
    ids = run._draw(1)
    assert ids.shape == (3, 2, 8)
    for step in ids.flatten(0, 1).tolist():
        assert len(set(step)) == 8
        assert min(step) >= 8
    assert not torch.equal(ids[0], ids[1])
    assert not torch.equal(ids[:, 0], ids[:, 1])
    assert not torch.equal(ids, run._draw(2))


def test_a_pass_over_the_data_sees_every_graph_once():
    run = lockstep([unit(dataset="NCI1"), unit(dataset="NCI1", seed=1)])
    ids = run._draw(3)
    for replica in ids.transpose(0, 1).flatten(1).tolist():
        assert sorted(i for i in replica if i < len(GRAPHS.y)) == list(range(8, 40))


def test_initial_weights_depend_on_seed_and_fold_alone():
    def build(replicas):
        return SEPG(5, 16, 2, replicas=replicas)

    keys = [key_of(unit()), key_of(unit(dropout=0.5)), key_of(unit(seed=1)), key_of(unit(fold=1))]
    weights, _ = initial_state(torch.tensor(keys), build)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert not torch.equal(weights[0], weights[3])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_recorded_steps_equal_launched_ones():
    store = GraphStore(GRAPHS, TREES, GCN, device="cuda")
    cpu = lockstep([unit(), unit(seed=1)])
    moved = Split(*(part.cuda() for part in (cpu.split.train, cpu.split.val, cpu.split.test)))
    gpu = Lockstep(cpu.units, PROTOCOL, store, moved, cpu.build)
    for run in (cpu, gpu):
        run.train_epoch(1)
    torch.testing.assert_close(gpu.weights.cpu(), cpu.weights, atol=1e-5, rtol=1e-3)
