"""Trains units: those that fit together in lockstep, the others one after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor, nn

from sepool_experiments.batches.store import GraphStore
from sepool_experiments.data.graphs import GraphSet, load_folds, load_graphs, load_trees
from sepool_experiments.engine.descent import Descent
from sepool_experiments.engine.lockstep import Lockstep, Split
from sepool_experiments.engine.node_trainer import group_node_units, make_node_lockstep
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.models.catalog import system_of
from sepool_experiments.models.systems import LAYERS, SYSTEMS
from sepool_experiments.protocols.protocol import HEIGHT, Protocol
from sepool_experiments.protocols.units import Config, Result, Unit


def train(
    units: Sequence[Unit],
    protocol: Protocol,
    data_root: Path,
    device: str = "cpu",
    say: Callable[[str], None] = print,
) -> Iterator[Result]:
    """Trains units and hands out results as trainings stop.

    Args:
        units: what to train; one unit is a plain training.
        protocol: by which rules.
        data_root: folder of the data.
        device: where.
        say: told, a line at a time, what the user should know.
    """
    groups = (_in_step(group, protocol, data_root) for group in group_units(units, device))
    waiting, most = [part for parts in groups for part in parts], len(units)
    while waiting:
        group = waiting.pop(0)
        if len(group) > most:
            group, rest = group[:most], group[most:]
            waiting.insert(0, rest)
        finished = set()
        try:
            for result in make_lockstep(group, protocol, data_root, device).run():
                finished.add(result.unit)
                yield result
        except torch.OutOfMemoryError:
            left = [unit for unit in group if unit not in finished]
            if len(left) < 2:
                raise
            torch.cuda.empty_cache()
            if most == len(units):
                say(f"out of memory with {len(group)} replicas; going on with fewer at a time")
            most = len(left) // 2
            waiting.insert(0, left)


def group_units(units: Sequence[Unit], device: str = "cuda") -> list[list[Unit]]:
    """Units whose models have the same shape, together; a replica can differ in anything else.

    Example:
        >>> unit = Unit("table1", "MUTAG", "SEP-G", "best", Config(), fold=0, seed=0)
        >>> other = replace(unit, seed=1, config=Config(dropout=0.5))
        >>> [len(group) for group in group_units([unit, other, replace(unit, dataset="DD")])]
        [2, 1]
    """
    groups: dict[tuple[str, str, str, Config | Unit], list[Unit]] = {}
    usual = Config()
    on_nodes = [unit for unit in units if system_of(unit).kind == "nodes"]
    for unit in [unit for unit in units if system_of(unit).kind == "graphs"]:
        own = ("dropout", "schedule", "lr", "weight_decay")
        shape = replace(unit.config, **{name: getattr(usual, name) for name in own})
        like = shape if SYSTEMS[unit.system].lockstep else unit  # which is like no other
        groups.setdefault((unit.dataset, unit.system, unit.tree, like), []).append(unit)
    return [*groups.values(), *group_node_units(on_nodes, device)]


def _in_step(units: list[Unit], protocol: Protocol, root: Path) -> list[list[Unit]]:
    """The parts of a group whose passes over the data have equally many batches."""
    dataset, size = units[0].dataset, units[0].config.batch
    if system_of(units[0]).kind == "nodes" or protocol.steps_for(dataset) is not None:
        return [units]
    graphs = _graphs(root, dataset)
    parts: dict[int, list[Unit]] = {}
    folds = [len(fold) for fold in load_folds(root, graphs, protocol.folds)]
    for unit in units:
        train = len(graphs.y) - folds[unit.fold] - folds[unit.fold - 1]
        parts.setdefault(math.ceil(train / size), []).append(unit)
    return list(parts.values())


def make_lockstep(units: Sequence[Unit], protocol: Protocol, root: Path, device: str) -> Descent:
    """The trainings of a group of units, ready to run."""
    first, config = units[0], units[0].config
    if system_of(first).kind == "nodes":
        return make_node_lockstep(units, protocol, root, device)
    system = SYSTEMS[first.system]
    levels = tuple(min(i, config.blocks) if system.uses_tree else 0 for i in range(LAYERS))
    store = _store(
        root, first.dataset, first.tree, system.conv or config.conv, levels,
        config.pooled == "binary", config.input_link, device, system.by_source,
    )  # fmt: skip
    nodes = math.ceil(store.graphs.nodes.mean())

    def build(replicas: int) -> nn.Module:
        return system.build(store.num_features, store.num_classes, config, replicas, nodes)

    return Lockstep(units, protocol, store, _split(units, root, protocol, device), build)


@lru_cache(maxsize=4)
def _graphs(root: Path, name: str) -> GraphSet:
    return load_graphs(root, name)


@lru_cache(maxsize=8)  # threads that share a device need some at a time
def _store(
    root: Path,
    name: str,
    tree: str,
    conv: str,
    levels: tuple[int, ...],
    binary: bool,
    link: bool,
    device: str,
    by_source: bool,
) -> GraphStore:
    graphs = _graphs(root, name)
    forest = load_trees(root, graphs, tree, HEIGHT)
    return GraphStore(graphs, forest, CONVS[conv], levels, binary, link, device, by_source)


def _split(units: Sequence[Unit], root: Path, protocol: Protocol, device: str) -> Split:
    """Fold ``k`` tests, the one before it validates (the last for the first), the rest trains."""
    graphs = _graphs(root, units[0].dataset)
    folds = [torch.from_numpy(fold) for fold in load_folds(root, graphs, protocol.folds)]
    everything = torch.arange(len(graphs.y))
    rows: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
    for fold in {unit.fold for unit in units}:
        test, val = folds[fold], folds[fold - 1]
        rows[fold] = everything[~torch.isin(everything, torch.cat([test, val]))], val, test
    parts = zip(*(rows[unit.fold] for unit in units), strict=True)
    pad = torch.nn.utils.rnn.pad_sequence
    stacked = (pad(list(part), batch_first=True, padding_value=len(graphs.y)) for part in parts)
    return Split(*(part.to(device) for part in stacked))
