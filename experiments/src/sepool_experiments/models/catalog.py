"""All systems by task, without importing torch."""

from __future__ import annotations

from sepool_experiments.models.node_systems import NODE_SYSTEMS
from sepool_experiments.models.systems import SYSTEMS, System
from sepool_experiments.models.task_systems import TASK_SYSTEMS
from sepool_experiments.protocols.protocol import DATASETS
from sepool_experiments.protocols.units import Unit

SYSTEMS_OF = {"graphs": SYSTEMS, "nodes": NODE_SYSTEMS, "longrange": TASK_SYSTEMS}


def system_of(unit: Unit) -> System:
    """Return the system of a unit; the dataset decides between systems of one name.

    >>> from dataclasses import replace
    >>> from sepool_experiments.protocols.units import Config
    >>> unit = Unit("table3", "Cora", "GCN", "", Config(), fold=0, seed=0)
    >>> system_of(unit).task, system_of(replace(unit, dataset="MUTAG")).task
    ('nodes', 'graphs')
    """
    if unit.system in TASK_SYSTEMS:
        return TASK_SYSTEMS[unit.system]
    return SYSTEMS_OF[DATASETS.get(unit.dataset, "graphs")][unit.system]
