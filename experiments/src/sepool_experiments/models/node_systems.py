"""Register of the node classifiers, under their published names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sepool_experiments.models.systems import Build, System
from sepool_experiments.protocols.units import Config

if TYPE_CHECKING:
    from torch import nn

NODE_SYSTEMS: dict[str, System] = {}


def _build(name: str, *options: str, fields: tuple[str, ...] = ("hidden",)) -> Build:
    """Return the factory of ``module:class`` of `sepool_experiments.models.nodes`.

    Its arguments are ``fields`` of the configuration and ``options`` of the configuration's
    ``extra``. The trainer sets the dropout rates.
    """

    def build(
        features: int, classes: int, config: Config, replicas: int | None, nodes: int = 25
    ) -> nn.Module:
        module, _, class_name = name.partition(":")
        package = "sepool_experiments.models.nodes"
        model_class: Any = getattr(import_module(f"{package}.{module}"), class_name)
        kwargs = {field: getattr(config, field) for field in fields}
        kwargs.update({key: value for key, value in config.extra if key in options})
        model: nn.Module = model_class(features, out_channels=classes, **kwargs, replicas=replicas)
        return model

    return build


def _add(name: str, build: Build, family: str, year: int, paper: str) -> None:
    NODE_SYSTEMS[name] = System(
        name=name,
        paper=paper,
        year=year,
        task="nodes",
        family=family,
        uses_tree=name == "SEP-N",
        lockstep=True,
        build=build,
    )


_PASSING, _LINEAR, _POOLING = "message passing", "linear", "hierarchical pooling"
_add("GCN", _build("gcn:GCN", "layers"), _PASSING, 2017,
     "Semi-Supervised Classification with Graph Convolutional Networks, ICLR")  # fmt: skip
_add("GAT", _build("gat:GAT", "heads", "out_heads"), _PASSING, 2018,
     "Graph Attention Networks, ICLR")  # fmt: skip
_add("GIN", _build("gin:GIN"), _PASSING, 2019,
     "How Powerful are Graph Neural Networks?, ICLR")  # fmt: skip
_add("FastGCN", _build("fastgcn:FastGCN", "samples"), "sampling", 2018,
     "FastGCN: Fast Learning with GCNs via Importance Sampling, ICLR")  # fmt: skip
_add("APPNP", _build("appnp:APPNP", "steps", "alpha"), "deep message passing", 2019,
     "Predict then Propagate: GNNs meet Personalized PageRank, ICLR")  # fmt: skip
_add("MixHop", _build("mixhop:MixHop"), _PASSING, 2019,
     "MixHop: Higher-Order Graph Convolutional Architectures, ICML")  # fmt: skip
_add("DGI", _build("dgi:Probe"), "unsupervised", 2019, "Deep Graph Infomax, ICLR")
_add("SGC", _build("sgc:SGC", "power", fields=()), _LINEAR, 2019,
     "Simplifying Graph Convolutional Networks, ICML")  # fmt: skip
_add("S2GC", _build("s2gc:S2GC", "power", "alpha", fields=()), _LINEAR, 2021,
     "Simple Spectral Graph Convolution, ICLR")  # fmt: skip
_add("GCNII", _build("gcnii:GCNII", "layers", "alpha", "strength"), "deep message passing", 2020,
     "Simple and Deep Graph Convolutional Networks, ICML")  # fmt: skip
_add("g-U-Nets", _build("gunets:GUNets", "sizes"), _POOLING, 2019, "Graph U-Nets, ICML")
_SEP_N = _build(
    "sep_n:SEPN",
    *("skip", "reduce", "smooth", "norm", "input_dropout", "propagate", "teleport", "light"),
    fields=("hidden", "blocks", "conv", "pooled", "input_link"),
)
_add("SEP-N", _SEP_N, _POOLING, 2022,
     "Structural Entropy Guided Graph Hierarchical Pooling, ICML")  # fmt: skip
