"""Groups of node classification units and their data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import torch
from torch import nn
from torch_geometric.data import Data

from sepool.pyg.format import Forest
from sepool_experiments.data.nodes import (
    NodeSet,
    TreeChoice,
    load_nodes,
    load_tree,
    node_data,
    pick_levels,
)
from sepool_experiments.engine.node_lockstep import DROPOUTS, NodeLockstep, NodeSplit
from sepool_experiments.models.node_systems import NODE_SYSTEMS
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Config, Unit

# Options that do not change the shape of a model and may differ between replicas.
PER_REPLICA = (*DROPOUTS, "patience", "decay_rest", "name")
SIZES = {"Cora": 2708, "CiteSeer": 3327, "PubMed": 19717}
GPU_MEMORY = 24 << 30  # bytes for the replicas of a group, roughly
CPU_CACHE = 8 << 20  # bytes for the features of a level
TABLES = 24  # matrices of features that a replica keeps for its gradient, roughly


def shape_of(config: Config) -> Config:
    """Return a configuration without the options that may differ between replicas.

    Input dropout stays as a flag: without it the first layer is precomputed.

    >>> shape_of(Config(dropout=0.5, extra=(("input_dropout", 0.5), ("patience", 9)))).extra
    (('input_dropout', True),)
    """
    extra = tuple(sorted(pair for pair in config.extra if pair[0] not in PER_REPLICA))
    if dict(config.extra).get("input_dropout"):
        extra += (("input_dropout", True),)
    default = Config()
    return replace(
        config,
        dropout=default.dropout,
        lr=default.lr,
        weight_decay=default.weight_decay,
        extra=extra,
    )


def max_replicas(unit: Unit, device: str = "cuda") -> int:
    """Return the number of replicas of a unit that fit into a GPU's memory, or a CPU's cache."""
    table = 4 * SIZES.get(unit.dataset, 1000) * unit.config.hidden
    if device == "cpu":
        return max(1, CPU_CACHE // table)
    return max(8, GPU_MEMORY // (TABLES * table))


def group_node_units(units: Sequence[Unit], device: str = "cuda") -> list[list[Unit]]:
    """Group units whose models have the same shape, as many as fit.

    >>> unit = Unit("table3", "Cora", "GCN", "", Config(), fold=0, seed=0)
    >>> other = replace(unit, seed=1, config=Config(dropout=0.5, extra=(("patience", 9),)))
    >>> wide = replace(unit, config=Config(hidden=32))
    >>> [len(group) for group in group_node_units([unit, other, wide])]
    [2, 1]
    """
    groups: dict[tuple[str, str, str, Config], list[Unit]] = {}
    for unit in units:
        key = unit.dataset, unit.system, unit.tree, shape_of(unit.config)
        groups.setdefault(key, []).append(unit)
    parts = []
    for group in groups.values():
        most = max_replicas(group[0], device)
        parts += [group[start : start + most] for start in range(0, len(group), most)]
    return parts


def make_node_lockstep(
    units: Sequence[Unit], protocol: Protocol, root: Path, device: str
) -> NodeLockstep:
    """Return the trainings of a group of units."""
    first, config = units[0], units[0].config
    system, nodes = NODE_SYSTEMS[first.system], _nodes(root, first.dataset)

    def build(replicas: int) -> nn.Module:
        return system.build(nodes.x.shape[1], nodes.num_classes, config, replicas)

    data = _data(root, first.dataset, TreeChoice.of(first.tree, config), device)
    parts = (torch.from_numpy(part).to(device) for part in (nodes.train, nodes.val, nodes.test))
    return NodeLockstep(units, protocol, data, NodeSplit(*parts), build)


@lru_cache(maxsize=4)
def _nodes(root: Path, name: str) -> NodeSet:
    return load_nodes(root, name)


@lru_cache(maxsize=8)
def _data(root: Path, name: str, choice: TreeChoice, device: str) -> Data:
    forest = _forest(root, name, replace(choice, levels=()))
    if choice.levels:
        forest = pick_levels(forest, choice.levels)
    return node_data(_nodes(root, name), forest).to(device)


@lru_cache(maxsize=8)
def _forest(root: Path, name: str, choice: TreeChoice) -> Forest:
    return load_tree(root, _nodes(root, name), choice)
