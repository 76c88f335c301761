"""Register of the models of the protocol longrange: a stack along a tree, and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sepool_experiments.models.systems import Build, System
from sepool_experiments.protocols.longrange import FLAT_NET, TREE_NET
from sepool_experiments.protocols.protocol import HEIGHT
from sepool_experiments.protocols.units import Config

if TYPE_CHECKING:
    from torch import nn

OPTIONS = (
    "task",
    "layers",
    "level_readout",
    "jump",
    "reduce",
    "pooled",
    "readout",
    "residual",
    "norm",
)


def _build(height: int) -> Build:
    """Return the factory of `sepool.nn.SEPGraphNet` with trees of this height, or without (0)."""

    def build(
        features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
    ) -> nn.Module:
        from sepool.nn import SEPGraphNet

        options: dict[str, Any] = {name: value for name, value in config.extra if name in OPTIONS}
        model: nn.Module = SEPGraphNet(
            features,
            config.hidden,
            classes,
            height,
            conv=config.conv,
            dropout=config.dropout,
            **{"readout": config.readout, **options},
        )
        return model

    return build


TASK_SYSTEMS = {
    name: System(
        name=name,
        paper=paper,
        year=year,
        task="longrange",
        family=family,
        uses_tree=height > 0,
        lockstep=False,
        build=_build(height),
    )
    for name, height, family, year, paper in (
        (TREE_NET, HEIGHT, "message passing along a tree", 2026, "sepool.nn.SEPGraphNet"),
        (FLAT_NET, 0, "message passing", 2017,
         "Semi-Supervised Classification with Graph Convolutional Networks, ICLR"),
    )
}  # fmt: skip
