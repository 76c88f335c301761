"""The systems that can be trained, under their published names."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from sepool_experiments.protocols.protocol import HEIGHT
from sepool_experiments.protocols.units import Config

if TYPE_CHECKING:
    from torch import nn

LAYERS = 3  # convolutions of SEP-G


class Build(Protocol):
    """Function that makes a model."""

    def __call__(
        self, features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
    ) -> nn.Module:
        """Make a plain model, or replicas, for graphs of so many nodes on average."""


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
        build: makes the model.
        conv: the convolution for which a dataset is prepared; "" for that of the configuration.
        row_indexed: whether it takes the rows of its nodes itself (`ReplicaBatch.row_index`), and,
            where only its first convolution is on the nodes, knows that one can stand for several
            (`ReplicaBatch.multiplicity`).

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
    conv: str = ""
    row_indexed: bool = False


SYSTEMS: dict[str, System] = {}


def register(system: System) -> System:
    """Makes a system known; a name can be taken once."""
    if system.name in SYSTEMS:
        raise ValueError(f"there is a system {system.name!r} already; take another name")
    SYSTEMS[system.name] = system
    return system


def _sep_g(
    features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
) -> nn.Module:
    from sepool_experiments.models.graphs.sep_g import (
        SEPG,  # here, because this module must not pull torch in
    )

    return SEPG(
        features,
        config.hidden,
        classes,
        height=HEIGHT,
        layers=LAYERS,
        conv=config.conv,
        blocks=config.blocks,
        readout=config.readout,
        pooled=config.pooled,
        input_link=config.input_link,
        norm=bool(dict(config.extra).get("norm", False)),
        init=str(dict(config.extra).get("init", "glorot")),
        dropout=config.dropout,
        replicas=replicas,
    )


def _baseline(name: str) -> Build:
    """Makes the model ``module:class`` of `sepool_experiments.models.graphs`, loaded when made."""

    def build(
        features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
    ) -> nn.Module:
        module, _, model = name.partition(":")
        found: type[nn.Module] = getattr(
            import_module(f"sepool_experiments.models.graphs.{module}"), model
        )
        usual = None if config.readout == Config().readout else config.readout
        return found(
            features,
            config.hidden,
            classes,
            nodes=nodes,
            dropout=config.dropout,
            readout=dict(config.extra).get("readout", usual),
            input_link=config.input_link,
            replicas=replicas,
        )

    return build


_NO_POOLING, _GLOBAL, _LEVELS = "message passing", "global pooling", "hierarchical pooling"
_PAPERS = {
    "GCN": "Semi-Supervised Classification with Graph Convolutional Networks, ICLR",
    "GIN": "How Powerful are Graph Neural Networks?, ICLR",
    "Set2Set": "Order Matters: Sequence to Sequence for Sets, ICLR",
    "SortPool": "An End-to-End Deep Learning Architecture for Graph Classification, AAAI",
    "SAGPool(G)": "Self-Attention Graph Pooling, ICML",
    "StructPool": "StructPool: Structured Graph Pooling via Conditional Random Fields, ICLR",
    "GMT": "Accurate Learning of Graph Representations with Graph Multiset Pooling, ICLR",
    "DiffPool": "Hierarchical Graph Representation Learning with Differentiable Pooling, NeurIPS",
    "SAGPool(H)": "Self-Attention Graph Pooling, ICML",
    "TopKPool": "Graph U-Nets, ICML",
    "ASAP": "Adaptive Structure Aware Pooling for Hierarchical Graph Representations, AAAI",
    "MinCutPool": "Spectral Clustering with Graph Neural Networks for Graph Pooling, ICML",
}
_BASELINES = (
    ("GCN", "gcn:GCN", _NO_POOLING, 2017),
    ("GIN", "gin:GIN", _NO_POOLING, 2019),
    ("Set2Set", "set2set:Set2Set", _GLOBAL, 2016),
    ("SortPool", "sortpool:SortPool", _GLOBAL, 2018),
    ("SAGPool(G)", "sagpool_g:SAGPoolG", _GLOBAL, 2019),
    ("StructPool", "structpool:StructPool", _GLOBAL, 2020),
    ("GMT", "gmt:GMT", _GLOBAL, 2021),
    ("DiffPool", "diffpool:DiffPool", _LEVELS, 2018),
    ("SAGPool(H)", "sagpool_h:SAGPoolH", _LEVELS, 2019),
    ("TopKPool", "topkpool:TopKPool", _LEVELS, 2019),
    ("ASAP", "asap:ASAP", _LEVELS, 2020),
    ("MinCutPool", "mincutpool:MinCutPool", _LEVELS, 2020),
)
for _name, _model, _family, _year in _BASELINES:
    register(
        System(
            name=_name,
            paper=_PAPERS[_name],
            year=_year,
            kind="graphs",
            family=_family,
            uses_tree=False,
            lockstep=True,
            build=_baseline(_model),
            conv="GIN" if _name == "GIN" else "GCN",
            row_indexed=True,
        )
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
        row_indexed=True,
    )
)
