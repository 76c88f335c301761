"""The systems that can be trained, under their published names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sepool.bench.units import Config

if TYPE_CHECKING:
    from torch import nn

Build = Callable[[int, int, Config, "int | None"], "nn.Module"]


@dataclass(frozen=True)
class System:
    """A model and what an engine has to know of it.

    Args:
        name: as published.
        paper: where it was published.
        year: when.
        kind: what it classifies, "graphs" or "nodes".
        family: what it has in common with others, such as "hierarchical pooling".
        uses_tree: whether it pools along a coding tree.
        lockstep: whether many of its trainings can run as one model.
        build: makes the model from the number of features, the number of classes, a configuration
            and the number of replicas, None for a plain model.

    Example:
        >>> SYSTEMS["SEP-G"].family
        'hierarchical pooling'
    """

    name: str
    paper: str
    year: int
    kind: str
    family: str
    uses_tree: bool
    lockstep: bool
    build: Build


SYSTEMS: dict[str, System] = {}


def register(system: System) -> System:
    """Makes a system known; a name can be taken once."""
    if system.name in SYSTEMS:
        raise ValueError(f"there is a system {system.name!r} already")
    SYSTEMS[system.name] = system
    return system


def _sep_g(features: int, classes: int, config: Config, replicas: int | None) -> nn.Module:
    from sepool.nn import SEPG  # here, because this module must not pull torch in

    return SEPG(
        features,
        config.hidden,
        classes,
        height=3,
        conv=config.conv,
        blocks=config.blocks,
        readout=config.readout,
        pooled=config.pooled,
        input_link=config.input_link,
        dropout=config.dropout,
        replicas=replicas,
    )


register(
    System(
        name="SEP-G",
        paper="Structural Entropy Guided Graph Hierarchical Pooling, ICML",
        year=2022,
        kind="graphs",
        family="hierarchical pooling",
        uses_tree=True,
        lockstep=True,
        build=_sep_g,
    )
)
