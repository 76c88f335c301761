"""Node classifiers in lockstep against a plain training loop with PyTorch's own Adam."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from tests.communities import CLASSES, WORDS, community_data, community_set

from sepool_experiments.engine import trainer
from sepool_experiments.engine.node_lockstep import NodeLockstep, NodeSplit
from sepool_experiments.engine.node_trainer import group_node_units, max_replicas
from sepool_experiments.models.nodes.gcn import GCN
from sepool_experiments.models.nodes.sep_n import SEPN
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.node_studies import CHANGES
from sepool_experiments.protocols.units import Config, Unit

NODES = community_set(noise=0.6)
DATA = community_data(NODES)
SPLIT = NodeSplit(*(torch.from_numpy(part) for part in (NODES.train, NODES.val, NODES.test)))
PROTOCOL = replace(PROTOCOLS["table3"], epochs=30, patience=5)


def unit(seed=0, **config):
    settings = {"hidden": 8, "lr": 0.01, "weight_decay": 5e-3, **config}
    return Unit("table3", "Cora", "GCN", "", Config(**settings), 0, seed)


def lockstep(units, protocol=PROTOCOL, model=GCN, **options):
    def build(replicas):
        return model(WORDS, 8, CLASSES, replicas=replicas, **options)

    return NodeLockstep(units, protocol, DATA, SPLIT, build)


def plain_training(run, index, steps, lr, first_decay, rest_decay):
    model = GCN(WORDS, 8, CLASSES)
    start = 0
    for parameter in model.parameters():
        end = start + parameter.numel()
        parameter.data.copy_(run.weights[index, start:end].view_as(parameter))
        start = end
    optimizer = torch.optim.Adam(
        [
            {"params": model.first.parameters(), "weight_decay": first_decay},
            {"params": model.others.parameters(), "weight_decay": rest_decay},
        ],
        lr,
    )
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(model.prepare(DATA))[SPLIT.train], DATA.y[SPLIT.train]).backward()
        optimizer.step()
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_trains_as_plain_pytorch_would():
    # Of seed 0 a feature comes so close to the kink of a ReLU that rounding decides.
    units = [unit(3), unit(1, extra=(("decay_rest", 0.0),)), unit(2, lr=0.1, weight_decay=0.0)]
    run = lockstep(units)
    settings = [(0.01, 5e-3, 5e-3), (0.01, 5e-3, 0.0), (0.1, 0.0, 0.0)]
    expected = [plain_training(run, i, 6, *rules) for i, rules in enumerate(settings)]
    for _ in range(6):
        run.step()
    torch.testing.assert_close(run.weights, torch.stack(expected), atol=1e-5, rtol=1e-4)


def test_every_kind_of_dropout_has_its_rate():
    run = lockstep([unit(extra=(("pool_dropout", 0.25),), dropout=0.5)], model=SEPN)
    assert {float(drop.rate) for drop in run.model.drops} == {0.5}
    assert {float(dense.drop.rate) for dense in run.model.denses} == {0.25}
    rates = [(("input_dropout", rate),) for rate in (0.5, 0.8)]
    units = [unit(extra=rate, dropout=0.6) for rate in rates]
    run = lockstep(units, model=SEPN, input_dropout=0.5)
    assert run.model.input_drop.rate.tolist() == pytest.approx([0.5, 0.8])
    assert len(group_node_units([*units, unit(dropout=0.6)])) == 2
    run = lockstep([unit(extra=(("input_dropout", 0.5),))])
    assert float(run.model.first.drop.rate) == 0.5
    assert run.model.drops[0].rate == 0.0, "nothing is drawn where nobody drops"


def test_patience_of_a_replica():
    units = [unit(seed, lr=0.1, dropout=0.5) for seed in range(3)]
    units += [replace(u, config=replace(u.config, extra=(("patience", 15),))) for u in units]
    results = {r.unit: r for r in lockstep(units, replace(PROTOCOL, epochs=400)).run()}
    for seed in range(3):
        short, long = results[units[seed]], results[units[3 + seed]]
        assert short.epochs == short.best_epoch + 5
        assert long.epochs in (400, long.best_epoch + 15)
        assert long.val_loss <= short.val_loss + 1e-6


def test_many_replicas_stop_as_each_would_alone():
    """More than eight: those that stop are kept for a while, and must not go on learning."""
    units = [unit(seed, lr=0.05, dropout=0.5) for seed in range(20)]
    protocol = replace(PROTOCOL, epochs=60, patience=3)
    together = {result.unit: result for result in lockstep(units, protocol).run()}
    assert len({result.epochs for result in together.values()}) > 3
    for one in units[::4]:
        (alone,) = lockstep([one], protocol).run()
        assert (alone.epochs, alone.best_epoch) == (
            together[one].epochs,
            together[one].best_epoch,
        )
        assert alone.val_loss == pytest.approx(together[one].val_loss, abs=1e-5)


def test_normalised_replicas_train_as_each_would_alone():
    """Of one step, since Adam makes large steps of gradients that are 0 but for rounding."""
    units = [unit(seed, dropout=0.3) for seed in range(3)]
    together = lockstep(units, model=SEPN, norm=True)
    together.step()
    for i, one in enumerate(units):
        alone = lockstep([one], model=SEPN, norm=True)
        alone.step()
        torch.testing.assert_close(alone.gradient[0], together.gradient[i], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(alone.buffers[0], together.buffers[i], atol=1e-5, rtol=1e-4)


def test_curves_of_the_first_seed():
    results = list(lockstep([unit(seed) for seed in range(3)]).run())
    for result in results:
        assert (result.curve is None) == (result.unit.seed != 0)
    first = next(result for result in results if result.unit.seed == 0)
    assert len(first.curve) == first.epochs
    assert min(val for _, val in first.curve) == pytest.approx(first.val_loss)
    assert first.curve[-1][0] < first.curve[0][0]


def test_groups_hold_what_fits():
    table = PROTOCOLS["table3"]
    groups = group_node_units(table.units(["PubMed"], ["SEP-N"], ["best"]))
    assert sum(map(len, groups)) == 1280
    for group in groups:
        assert len({unit.config.hidden for unit in group}) == 1
        assert len(group) <= max_replicas(group[0])
    units = table.units(["Cora", "PubMed"], ["GCN"])
    assert [len(group) for group in group_node_units(units)] == [10, 10]
    assert [len(group) for group in group_node_units(units, "cpu")] == [10, 6, 4]
    search = PROTOCOLS["sepn-search"].units(["Cora"], trees=["best"])
    assert len(search) == 1280
    assert len(group_node_units(search)) <= 8


@pytest.fixture
def small_data(monkeypatch):
    """Stands for Cora."""
    from sepool_experiments.engine import node_trainer

    monkeypatch.setattr(node_trainer, "load_nodes", lambda root, name: NODES)
    kept = (node_trainer._nodes, node_trainer._data, node_trainer._forest)
    for cache in kept:
        cache.cache_clear()
    yield
    for cache in kept:
        cache.cache_clear()


@pytest.mark.parametrize("table", ["table3-quick", "table4-quick", "tableA1-quick"])
def test_every_unit_of_a_table_once(small_data, tmp_path, table):
    protocol = replace(PROTOCOLS[table], epochs=2)
    units = protocol.units()
    results = list(trainer.train(units, protocol, tmp_path))
    assert sorted(r.unit.key for r in results) == sorted(unit.key for unit in units)


def test_every_change_of_sep_n_trains(small_data, tmp_path):
    protocol = replace(PROTOCOLS["sepn-ablation"], epochs=2)
    units = protocol.units(["Cora"], trees=["best", "random"], seeds=1)[::4]
    names = {dict(unit.config.extra)["name"] for unit in units}
    assert names == set(CHANGES)
    results = list(trainer.train(units, protocol, tmp_path))
    assert len(results) == len(units)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_recorded_steps_equal_launched_ones():
    cpu = lockstep([unit(dropout=0.5), unit(1, dropout=0.5)], model=SEPN)
    moved = NodeSplit(*(part.cuda() for part in (SPLIT.train, SPLIT.val, SPLIT.test)))
    gpu = NodeLockstep(cpu.units, PROTOCOL, DATA.clone().cuda(), moved, cpu.build)
    for epoch in range(10):
        cpu.advance(epoch)
    gpu.advance(0)
    torch.testing.assert_close(gpu.weights.cpu(), cpu.weights, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(gpu.best_loss.cpu(), cpu.best_loss, atol=1e-4, rtol=1e-3)
