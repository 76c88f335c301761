"""Trainings that were killed and go on, against those that ran through, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from killed import Killed, die_after
from sepool_experiments.engine import checkpoint, descent, trainer
from sepool_experiments.engine.checkpoint import SUFFIX, Checkpoints
from sepool_experiments.models.systems import SYSTEMS
from small_graphs import graph_set, write_files

GRAPHS = graph_set(20)


@pytest.fixture
def root(tmp_path):
    """A dataset of twenty random graphs as files."""
    ends = np.cumsum([0, *GRAPHS.edges.counts])
    graphs = []
    for i, size in enumerate(GRAPHS.nodes):
        part = slice(ends[i], ends[i + 1])
        pairs = zip(GRAPHS.edges.row[part], GRAPHS.edges.col[part], strict=True)
        graphs.append(([(int(u), int(v)) for u, v in pairs if u < v], int(size)))
    return write_files(tmp_path / "data", graphs, GRAPHS.labels.tolist())


@pytest.fixture
def short(protocol):
    return replace(protocol, epochs=6, patience=2, steps=3)


@pytest.fixture
def always(monkeypatch):
    """Write a checkpoint at every opportunity, and a result as soon as there is one."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 1e9)
    monkeypatch.setattr(descent, "REPORT_SECONDS", 0.0)


def kill(units, short, root, checkpoints, monkeypatch):
    """Train until the fifth checkpoint."""
    with monkeypatch.context() as patch:
        die_after(patch, 4)
        with pytest.raises(Killed):
            list(trainer.train(units, short, root, checkpoints=checkpoints))


def measured(results):
    return {r.unit: (*replace(r, seconds=0.0).__dict__.values(),) for r in results}


def killed_and_resumed(units, short, root, folder, monkeypatch, saves):
    """Return the results of a run that dies after some checkpoints, and of its continuation."""
    marks, results = dict.fromkeys({unit.dataset for unit in units}, "mark"), []
    with monkeypatch.context() as patch:
        die_after(patch, saves)
        try:
            for result in trainer.train(units, short, root, checkpoints=Checkpoints(folder, marks)):
                results.append(result)
        except Killed:
            pass
    done = frozenset(result.unit.key for result in results)
    todo = [unit for unit in units if unit.key not in done]
    checkpoints = Checkpoints(folder, marks, done)
    return results, list(trainer.train(todo, short, root, checkpoints=checkpoints))


@pytest.mark.parametrize("saves", [0, 1, 4, 9, 13, 20])
def test_train_killed_group_goes_on_bit_for_bit(short, root, tmp_path, monkeypatch, always, saves):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=2, folds=3, configs=[0, 1])
    units = [replace(unit, config=replace(unit.config, dropout=0.5)) for unit in units]
    units = list(dict.fromkeys(units))
    expected = measured(trainer.train(units, short, root))
    assert len({result[1] for result in expected.values()}) > 1, "all stopped at once"
    before, after = killed_and_resumed(units, short, root, tmp_path, monkeypatch, saves)
    assert len(before) + len(after) == len(units)
    assert measured([*before, *after]) == expected
    assert not list(tmp_path.glob(f"*{SUFFIX}"))


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_train_killed_group_of_any_system_goes_on_bit_for_bit(
    short, root, tmp_path, monkeypatch, always, system
):
    units = short.units(["MUTAG"], [system], seeds=1, folds=3, configs=[0])
    units = [replace(unit, config=replace(unit.config, hidden=8, batch=8)) for unit in units]
    expected = measured(trainer.train(units, short, root))
    before, after = killed_and_resumed(units, short, root, tmp_path, monkeypatch, 5)
    assert after
    assert measured([*before, *after]) == expected


def test_train_slow_groups_report_without_a_compaction(short, root, always):
    """Twelve replicas of different patience: each result comes in the epoch of its stop."""
    (unit,) = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=1, configs=[0])
    units = [
        replace(unit, config=replace(unit.config, extra=(("patience", patience),)))
        for patience in (1, 100, 101, 102, 103)
    ]
    run = trainer.make_lockstep(units, replace(short, epochs=12), root, "cpu")
    (first,) = islice(run.run(), 1)
    assert dict(first.unit.config.extra)["patience"] == 1
    assert run.units == units
    assert run.epochs_done < 12


def test_interrupted_damaged_or_other_checkpoint_starts_anew(
    short, root, tmp_path, monkeypatch, always
):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=2, configs=[0])
    marks = {"MUTAG": "mark"}
    kill(units, short, root, Checkpoints(tmp_path, marks), monkeypatch)
    [path] = tmp_path.glob(f"*{SUFFIX}")
    whole = path.read_bytes()
    expected = measured(trainer.train(units, short, root))
    for content, mark, reason in (
        (whole[:-100], "mark", "truncated, or not a NumPy archive of plain arrays"),
        (b"", "mark", "truncated, or not a NumPy archive of plain arrays"),
        (whole, "other", "of another version, of other rules, data or another device"),
    ):
        path.write_bytes(content)
        lines = []
        checkpoints = Checkpoints(tmp_path, {"MUTAG": mark})
        results = list(trainer.train(units, short, root, "cpu", lines.append, checkpoints))
        assert measured(results) == expected
        assert len(lines) == 1
        assert reason in lines[0]
        assert not path.exists()


def test_restore_damaged_array_starts_anew(short, root, tmp_path, monkeypatch, always):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=2, configs=[0])
    checkpoints = Checkpoints(tmp_path, {"MUTAG": "mark"})
    kill(units, short, root, checkpoints, monkeypatch)
    [path] = tmp_path.glob(f"*{SUFFIX}")
    content = bytearray(path.read_bytes())
    content[len(content) // 4] ^= 0x55
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="truncated, or not .*; its trainings start anew"):
        results = measured(trainer.train(units, short, root, checkpoints=checkpoints))
    assert results == measured(trainer.train(units, short, root))


def test_interrupted_units_of_another_choice_leave_the_checkpoint(
    short, root, tmp_path, monkeypatch, always
):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=3, configs=[0])
    marks = {"MUTAG": "mark"}
    kill(units, short, root, Checkpoints(tmp_path, marks), monkeypatch)
    checkpoints = Checkpoints(tmp_path, marks)
    assert checkpoints.interrupted(units[:2], print) == []
    [(group, _)] = checkpoints.interrupted(units, print)
    assert group == units
    done = Checkpoints(tmp_path, marks, frozenset(unit.key for unit in units))
    assert done.interrupted(units[:1], print) == []
    assert not list(tmp_path.glob(f"*{SUFFIX}"))


def test_save_full_disk_raises_one_line_and_keeps_the_old_checkpoint(
    short, root, tmp_path, monkeypatch, always
):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=2, configs=[0])
    marks = {"MUTAG": "mark"}
    kill(units, short, root, Checkpoints(tmp_path, marks), monkeypatch)
    [path] = tmp_path.glob(f"*{SUFFIX}")
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.raises(OSError, match=r"No space left on device; what was stored before stays"):
            list(trainer.train(units, short, root, checkpoints=Checkpoints(tmp_path, marks)))
    assert path.read_bytes() == before
    results = trainer.train(units, short, root, checkpoints=Checkpoints(tmp_path, marks))
    assert measured(results) == measured(trainer.train(units, short, root))
