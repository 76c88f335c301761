"""Register of the graph classifiers, under their published names."""

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
    """Factory of a model."""

    def __call__(
        self, features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
    ) -> nn.Module:
        """Make a single model, or replicas; ``nodes`` is the average number of nodes of a graph."""


@dataclass(frozen=True)
class System:
    """A model, its publication and its options for training.

    Args:
        name: as published.
        paper: title and venue of the publication.
        year: year of the publication.
        task: "graphs" or "nodes", the objects to classify.
        family: family of models, such as "hierarchical pooling".
        uses_tree: pools along a coding tree.
        lockstep: many trainings can run as replicas of one model.
        build: factory of the model.
        conv: convolution that a dataset is prepared for; "" for that of the configuration.
        row_indexed: takes a table of node features with a row index (`ReplicaBatch.row_index`) and,
            if only its first convolution is on the nodes, merged duplicate nodes
            (`ReplicaBatch.multiplicity`).

    Example:
        >>> SYSTEMS["SEP-G"].family
        'hierarchical pooling'
    """

    name: str
    paper: str
    year: int
    task: str
    family: str
    uses_tree: bool
    lockstep: bool
    build: Build
    conv: str = ""
    row_indexed: bool = False


SYSTEMS: dict[str, System] = {}


def register(system: System) -> System:
    """Register a system; raise ValueError if the name is taken."""
    if system.name in SYSTEMS:
        raise ValueError(f"there is a system {system.name!r} already; take another name")
    SYSTEMS[system.name] = system
    return system


def _sep_g(
    features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
) -> nn.Module:
    from sepool_experiments.models.graphs.sep_g import (
        SEPG,  # imported here: this module must not import torch
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
    """Return the factory of ``module:class`` of `sepool_experiments.models.graphs`."""

    def build(
        features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
    ) -> nn.Module:
        module, _, class_name = name.partition(":")
        model_class: type[nn.Module] = getattr(
            import_module(f"sepool_experiments.models.graphs.{module}"), class_name
        )
        readout = None if config.readout == Config().readout else config.readout
        return model_class(
            features,
            config.hidden,
            classes,
            nodes=nodes,
            dropout=config.dropout,
            readout=dict(config.extra).get("readout", readout),
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
            task="graphs",
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
        task="graphs",
        family="hierarchical pooling",
        uses_tree=True,
        lockstep=True,
        build=_sep_g,
        row_indexed=True,
    )
)
