"""What holds for every node classifier: replicas, randomness, recording, learning."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from experiments.tests.models.checks import NoHostSync, assert_every_dropout_drops, drops_of
from tests.communities import CLASSES, WORDS, community_data, community_set

from killed import Killed, die_after
from sepool_experiments.engine import checkpoint
from sepool_experiments.engine.checkpoint import Checkpoint
from sepool_experiments.engine.node_lockstep import Encoding, NodeLockstep, NodeSplit
from sepool_experiments.models.node_systems import NODE_SYSTEMS
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.units import Config, Unit

NODES = community_set()
DATA = community_data(NODES)
OPTIONS = {
    "GCNII": (("layers", 4),),
    "g-U-Nets": (("sizes", "0.5,0.5"),),
    "S2GC": (("power", 4),),
    "GAT": (("heads", 2), ("out_heads", 2)),
}
WITHOUT_DROPOUT = ("SGC", "S2GC")
SUPERVISED = [name for name in NODE_SYSTEMS if name != "DGI"]
SPLIT = NodeSplit(*(torch.from_numpy(part) for part in (NODES.train, NODES.val, NODES.test)))
PROTOCOL = replace(PROTOCOLS["table3"], epochs=200, patience=50)


def config(name, **more):
    lr = 0.2 if name in ("SGC", "S2GC") else 0.02
    extra = OPTIONS.get(name, ()) + tuple(more.pop("extra", ()))
    return Config(**{"hidden": 8, "lr": lr, "weight_decay": 1e-5, "blocks": 2, **more}, extra=extra)


def build(name, replicas, **more):
    return NODE_SYSTEMS[name].build(WORDS, CLASSES, config(name, **more), replicas)


def lockstep(name, seeds=(0,), protocol=PROTOCOL, **more):
    tree = "best" if NODE_SYSTEMS[name].uses_tree else ""
    units = [Unit("table3", "Cora", name, tree, config(name, **more), 0, seed) for seed in seeds]
    return NodeLockstep(units, protocol, DATA, SPLIT, lambda r: build(name, r, **more))


def parts_of(model, r):
    """The weights of one replica."""
    return [parameter.detach()[r] for parameter in model.parameters()]


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_replica_is_the_model_alone(name):
    torch.manual_seed(0)
    many, alone = build(name, 3).eval(), build(name, None).eval()
    prepared = many.prepare(DATA)
    logits = many(prepared)
    assert logits.shape == (NODES.num_nodes, 3, CLASSES)
    y = DATA.y[SPLIT.train]
    for r in range(3):
        for parameter, values in zip(alone.parameters(), parts_of(many, r), strict=True):
            parameter.data.copy_(values.view_as(parameter))
        alone.zero_grad()
        many.zero_grad()
        single = alone(alone.prepare(DATA))
        torch.testing.assert_close(logits[:, r], single, atol=1e-5, rtol=1e-5)
        F.cross_entropy(single[SPLIT.train], y).backward()
        again = many(prepared)[SPLIT.train, r]
        F.cross_entropy(again, y).backward()
        for one, all_of_them in zip(alone.parameters(), many.parameters(), strict=True):
            grad = all_of_them.grad[r].view_as(one)
            torch.testing.assert_close(one.grad, grad, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", list(NODE_SYSTEMS))
def test_alone_and_among_others(name):
    """Dropout, samples and shuffles included: what is random depends on the unit alone."""
    protocol = replace(PROTOCOL, epochs=4)
    together = lockstep(name, (0, 1, 2), protocol, dropout=0.5)
    alone = lockstep(name, (2,), protocol, dropout=0.5)
    results = {r.unit.seed: r for r in together.run()}
    (one,) = alone.run()
    assert results[2].val_loss == pytest.approx(one.val_loss, abs=1e-5)
    assert results[2].test_accuracy == one.test_accuracy
    assert results[0].val_loss != results[1].val_loss


@pytest.mark.parametrize("name", list(NODE_SYSTEMS))
@pytest.mark.parametrize("saves", [2, 7])
def test_killed_trainings_go_on_bit_for_bit(tmp_path, monkeypatch, name, saves):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 1e9)
    protocol = replace(PROTOCOL, epochs=10)
    expected = list(lockstep(name, (0, 1, 2), protocol, dropout=0.5).run())
    killed = lockstep(name, (0, 1, 2), protocol, dropout=0.5)
    killed.checkpoint = Checkpoint(tmp_path / "file", "mark")
    with monkeypatch.context() as patch:
        die_after(patch, saves)
        with pytest.raises(Killed):
            list(killed.run())
    resumed = lockstep(name, (0, 1, 2), protocol, dropout=0.5)
    resumed.checkpoint = Checkpoint(tmp_path / "file")
    assert resumed.checkpoint.open({"Cora": "mark"}) == killed.units
    results = list(resumed.run())
    assert [replace(r, seconds=0) for r in results] == [replace(r, seconds=0) for r in expected]
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("name", list(NODE_SYSTEMS))
def test_learns_communities(name):
    results = list(lockstep(name, (0, 1, 2), dropout=0.2).run())
    accuracies = [result.test_accuracy for result in results]
    assert sum(accuracies) / 3 > 0.9, accuracies


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_step_can_be_recorded(name):
    run = lockstep(name, (0, 1), dropout=0.5)
    with NoHostSync():
        run.step()
    assert run.steps == 1


def test_a_step_before_training_can_be_recorded():
    run = lockstep("DGI", (0, 1))
    encoding = Encoding(run.units, PROTOCOL, DATA, SPLIT, run.model.make_encoder)
    with NoHostSync():
        encoding.step()
    assert encoding.best_loss.isfinite().all()


@pytest.mark.parametrize("name", SUPERVISED)
def test_every_dropout_drops(name):
    torch.manual_seed(0)
    model = build(name, None, dropout=0.5)
    assert bool(drops_of(model)) == (name not in WITHOUT_DROPOUT)
    assert_every_dropout_drops(model, model.prepare(DATA))


@pytest.mark.parametrize(
    ("name", "first"), [("GCN", "first"), ("GCNII", "convs"), ("SEP-N", "convs.0")]
)
def test_the_decay_of_the_first_layer(name, first):
    """As published: of GCNII all convolutions, of SEP-N the first, of others the first layer."""
    step = lockstep(name, weight_decay=0.25, extra=(("decay_rest", 0.125),))
    places, start = {}, 0
    for part, parameter in step.model.named_parameters():
        places[part] = slice(start, start := start + parameter.numel())
    decays = torch.empty(step.weights.size(1))
    for part, decay in step.decays:
        decays[part] = decay.item()
    for part, place in places.items():
        assert (decays[place] == (0.25 if part.startswith(first) else 0.125)).all(), part


def test_encoders_have_a_rate_and_a_patience_of_their_own():
    """Before the probe: those of the configuration, or 0.001 and 20 as published."""
    usual, other = {}, {"extra": (("encoder_lr", 0.5), ("encoder_patience", 7))}
    for more, expected in ((usual, (1e-3, 20)), (other, (0.5, 7))):
        units = lockstep("DGI", **more).units
        probe = build("DGI", 1, **more)
        step = Encoding(units, PROTOCOL, DATA, SPLIT, probe.make_encoder)
        assert (step.lr.item(), step.patience.item()) == (pytest.approx(expected[0]), expected[1])
