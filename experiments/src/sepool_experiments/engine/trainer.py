"""Training of units: in lockstep where their models fit together, else one after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor, nn

from sepool_experiments.batches.store import GraphStore
from sepool_experiments.data.graphs import GraphSet, load_folds, load_graphs, load_trees
from sepool_experiments.engine.checkpoint import Checkpoint, Checkpoints
from sepool_experiments.engine.descent import Descent
from sepool_experiments.engine.lockstep import Lockstep, Split
from sepool_experiments.engine.node_trainer import CPU_CACHE, group_node_units, make_node_lockstep
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.models.catalog import system_of
from sepool_experiments.models.systems import LAYERS, SYSTEMS
from sepool_experiments.protocols.protocol import HEIGHT, Protocol
from sepool_experiments.protocols.units import Config, Result, Unit

NO_CHECKPOINTS = Checkpoints()
LEAST = 4  # replicas of a group


def train(
    units: Sequence[Unit],
    protocol: Protocol,
    data_root: Path,
    device: str = "cpu",
    log: Callable[[str], None] = print,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Iterator[Result]:
    """Train units and yield results as trainings stop.

    Args:
        units: trainings.
        protocol: protocol of the experiment.
        data_root: folder of the data.
        device: device.
        log: callback for progress messages.
        checkpoints: of interrupted groups, which go on first.
    """
    queue = checkpoints.interrupted(units, log)
    wanted = set(units)
    new = [unit for unit in units if not any(unit in group for group, _ in queue)]
    groups = (_by_batch_count(group, protocol, data_root) for group in group_units(new, device))
    small = (_in_cache(part, data_root, device) for parts in groups for part in parts)
    queue += [(part, checkpoints.of(part)) for parts in small for part in parts]
    most = len(units)
    while queue:
        group, checkpoint = queue.pop(0)
        if len(group) > most:
            checkpoint.remove()
            queue.insert(0, (group[most:], checkpoints.of(group[most:])))
            group, checkpoint = group[:most], checkpoints.of(group[:most])
        finished = set()
        try:
            for result in _resumed(group, wanted, protocol, data_root, device, checkpoint).run():
                finished.add(result.unit)
                yield result
        except torch.OutOfMemoryError:
            checkpoint.remove()
            rest = [unit for unit in group if unit in wanted - finished]
            if len(rest) < 2:
                raise
            torch.cuda.empty_cache()
            if most == len(units):
                log(f"out of memory with {len(group)} replicas; continuing with fewer at a time")
            most = len(rest) // 2
            queue.insert(0, (rest, checkpoints.of(rest)))


def _resumed(
    group: Sequence[Unit],
    wanted: AbstractSet[Unit],
    protocol: Protocol,
    root: Path,
    device: str,
    checkpoint: Checkpoint,
) -> Descent:
    """Return the trainings of a group; those with a row run along, as before an interruption."""
    descent = make_lockstep(group, protocol, root, device)
    descent.checkpoint, descent.reported = checkpoint, set(group) - wanted
    return descent


def group_units(units: Sequence[Unit], device: str = "cuda") -> list[list[Unit]]:
    """Group units whose models have the same shape; replicas may differ in anything else.

    Example:
        >>> unit = Unit("table1", "MUTAG", "SEP-G", "best", Config(), fold=0, seed=0)
        >>> other = replace(unit, seed=1, config=Config(dropout=0.5))
        >>> [len(group) for group in group_units([unit, other, replace(unit, dataset="DD")])]
        [2, 1]
    """
    groups: dict[tuple[str, str, str, Config | Unit], list[Unit]] = {}
    default = Config()
    on_nodes = [unit for unit in units if system_of(unit).task == "nodes"]
    for unit in [unit for unit in units if system_of(unit).task == "graphs"]:
        own = ("dropout", "schedule", "lr", "weight_decay")
        shape = replace(unit.config, **{name: getattr(default, name) for name in own})
        key = shape if SYSTEMS[unit.system].lockstep else unit  # a group of its own
        groups.setdefault((unit.dataset, unit.system, unit.tree, key), []).append(unit)
    return [*groups.values(), *group_node_units(on_nodes, device)]


def _by_batch_count(units: list[Unit], protocol: Protocol, root: Path) -> list[list[Unit]]:
    """Split a group by the number of batches of a pass over the data."""
    dataset, size = units[0].dataset, units[0].config.batch
    if system_of(units[0]).task == "nodes" or protocol.steps_for(dataset) is not None:
        return [units]
    graphs = _graphs(root, dataset)
    parts: dict[int, list[Unit]] = {}
    folds = [len(fold) for fold in load_folds(root, graphs, protocol.folds)]
    for unit in units:
        train = len(graphs.y) - folds[unit.fold] - folds[unit.fold - 1]
        parts.setdefault(math.ceil(train / size), []).append(unit)
    return list(parts.values())


def _in_cache(units: list[Unit], root: Path, device: str) -> list[list[Unit]]:
    """Split a group on a CPU into parts whose features of a level fit its cache.

    Larger ones train no faster, and their steps take minutes, between which nothing is stored.
    """
    if device != "cpu" or system_of(units[0]).task == "nodes":
        return [units]
    config, nodes = units[0].config, _graphs(root, units[0].dataset).nodes
    table = 4 * config.batch * config.hidden * float(nodes.mean())
    most = max(LEAST, int(CPU_CACHE // table))
    return [units[start : start + most] for start in range(0, len(units), most)]


def make_lockstep(units: Sequence[Unit], protocol: Protocol, root: Path, device: str) -> Descent:
    """Return the trainings of a group of units."""
    first, config = units[0], units[0].config
    if system_of(first).task == "nodes":
        return make_node_lockstep(units, protocol, root, device)
    system = SYSTEMS[first.system]
    levels = tuple(min(i, config.blocks) if system.uses_tree else 0 for i in range(LAYERS))
    store = _store(
        root, first.dataset, first.tree, system.conv or config.conv, levels,
        config.pooled == "binary", config.input_link, device, system.row_indexed,
    )  # fmt: skip
    nodes = math.ceil(store.graphs.nodes.mean())

    def build(replicas: int) -> nn.Module:
        return system.build(store.num_features, store.num_classes, config, replicas, nodes)

    return Lockstep(units, protocol, store, _split(units, root, protocol, device), build)


@lru_cache(maxsize=4)
def _graphs(root: Path, name: str) -> GraphSet:
    return load_graphs(root, name)


@lru_cache(maxsize=8)  # threads that share a device use several
def _store(
    root: Path,
    name: str,
    tree: str,
    conv: str,
    levels: tuple[int, ...],
    binary: bool,
    link: bool,
    device: str,
    row_indexed: bool,
) -> GraphStore:
    graphs = _graphs(root, name)
    forest = load_trees(root, graphs, tree, HEIGHT)
    return GraphStore(graphs, forest, CONVS[conv], levels, binary, link, device, row_indexed)


def _split(units: Sequence[Unit], root: Path, protocol: Protocol, device: str) -> Split:
    """Split for every unit: fold ``k`` tests, fold ``k - 1`` validates, the others train."""
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
