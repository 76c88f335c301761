"""Protocols of node classification, with the published settings of every system."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf

from sepool_experiments.protocols.protocol import NODE_DATASETS, Grids, Protocol
from sepool_experiments.protocols.units import Config, Value

_FIELDS = ("hidden", "dropout", "lr", "weight_decay", "blocks", "pooled", "input_link")


def node_config(hidden: int = 16, **settings: Value) -> Config:
    """Return a configuration at learning rate 0.01; settings that are no fields go to ``extra``."""
    return changed(Config(hidden=hidden, lr=0.01, weight_decay=5e-4), **settings)


def changed(config: Config, **settings: Value) -> Config:
    """Return the configuration with more settings."""
    values = config.to_dict()
    values.update({name: settings.pop(name) for name in _FIELDS if name in settings})
    extra = {**dict(config.extra), **settings}
    return Config.from_dict({**values, "extra": list(extra.items())})


_DECAYS = (5e-6, 1e-5, 2e-5, 5e-5, 1e-4)
_GAT = node_config(8, dropout=0.6, lr=5e-3, patience=100)
_GCNII = node_config(64, dropout=0.6, weight_decay=0.01, decay_rest=5e-4, patience=100)


def _linear(**settings: Value) -> tuple[Config, ...]:
    """A linear model at rate 0.2; the weight decay is searched, as by the authors."""
    return tuple(node_config(64, lr=0.2, weight_decay=decay, **settings) for decay in _DECAYS)


def _gcnii(dataset: str, layers: int, **settings: Value) -> tuple[Config, ...]:
    """GCNII with the published settings of a dataset and another number of layers."""
    published: dict[str, dict[str, Value]] = {
        "Cora": {},
        "CiteSeer": {"hidden": 256, "dropout": 0.7, "strength": 0.6},
        "PubMed": {"hidden": 256, "dropout": 0.5, "strength": 0.4, "weight_decay": 5e-4},
    }
    base: dict[str, Value] = {"dropout": 0.6, "weight_decay": 0.01, **published[dataset]}
    hidden = int(base.pop("hidden", 64))
    return (node_config(hidden, **base, decay_rest=5e-4, patience=100, layers=layers, **settings),)


def _mixhop(decay: float) -> tuple[Config, ...]:
    rates = {"dropout": 0.9, "input_dropout": 0.5}
    return (node_config(20, weight_decay=decay, decay_rest=0.0, patience=200, **rates),)


def _g_u_nets(sizes: str = "2000,1000,500,200", **settings: Value) -> tuple[Config, ...]:
    rates = {"dropout": 0.0, "input_dropout": 0.92, "edge_dropout": 0.2}
    return (node_config(48, weight_decay=1e-3, **rates, sizes=sizes, **settings),)


_GIN = tuple(
    node_config(32, dropout=drop, weight_decay=decay)
    for drop, decay in product((0.6, 0.8), (5e-3, 0.02))
)
# As published: width, weight decay, dropout of convolutions and after pooling.
_RATES = (0.0, 0.3, 0.6, 0.9)
_SEP_N = tuple(
    node_config(hidden, dropout=drop, weight_decay=decay, blocks=2, pool_dropout=pool)
    for hidden, decay, drop, pool in product((16, 32, 128, 256), (0.02, 5e-4), _RATES, _RATES)
)
# SEP-N without weights above the nodes, along trees of predicted classes: chosen by validation.
LIGHT: dict[str, Value] = {"light": True, "reduce": "sym", "skip": "add"}
PREDICTED: dict[str, Value] = {"blend": 0.9, "similarity": "predicted"}
_LIGHT_GRID = tuple(
    node_config(
        64, dropout=drop, weight_decay=first, decay_rest=rest, blocks=2, patience=100,
        **LIGHT, **PREDICTED,
    )
    for drop, (first, rest) in product((0.5, 0.8), ((5e-4, 5e-4), (5e-3, 0.0)))
)  # fmt: skip
_SMALL = (
    *(
        node_config(hidden, dropout=drop, weight_decay=decay, blocks=2, pool_dropout=pool)
        for hidden, decay, drop, pool in product((32, 128), (0.02, 5e-4), (0.3, 0.6), (0.0, 0.6))
    ),
    *_LIGHT_GRID,
)
_PUBLISHED: Grids = (
    ("GCN", "", (node_config(16, dropout=0.5, decay_rest=0.0),)),
    ("GAT", "", (_GAT,)),
    ("GAT", "PubMed", (node_config(8, dropout=0.6, weight_decay=1e-3, patience=100, out_heads=8),)),
    ("GIN", "", _GIN),
    ("FastGCN", "", (node_config(16, samples=400), node_config(16, dropout=0.5, samples=400))),
    ("APPNP", "", (node_config(64, dropout=0.5, weight_decay=5e-3, decay_rest=0.0, patience=100),)),
    ("MixHop", "", _mixhop(0.01)),
    ("MixHop", "CiteSeer", _mixhop(0.1)),
    ("DGI", "", (node_config(512, weight_decay=0.0),)),
    ("SGC", "", _linear(power=2)),
    ("S2GC", "", _linear(power=16)),
    ("GCNII", "Cora", _gcnii("Cora", 64)),
    ("GCNII", "CiteSeer", _gcnii("CiteSeer", 32)),
    ("GCNII", "PubMed", _gcnii("PubMed", 16)),
    ("g-U-Nets", "", _g_u_nets()),
    ("SEP-N", "", _SEP_N),
)

TABLE3 = Protocol(
    name="table3",
    title="Node classification",
    task="nodes",
    datasets=NODE_DATASETS,
    systems=(
        *("GCN", "GAT", "GIN", "FastGCN", "APPNP", "MixHop", "DGI", "SGC", "S2GC", "GCNII"),
        *("g-U-Nets", "SEP-N"),
    ),
    trees=("best", "random"),
    grid=_SEP_N,
    grids=_PUBLISHED,
    folds=1,
    epochs=1000,
    patience=50,
    steps=1,
    full_pass=(),
    clip=inf,
)
_NODES = ("2000", "1000", "500", "200", "100")
_TABLE4 = replace(
    TABLE3,
    name="table4",
    title="Node classification, by the number of blocks",
    systems=("g-U-Nets", "SEP-N"),
    grid=_SMALL,
    grids=(
        (
            "g-U-Nets",
            "",
            tuple(
                config
                for depth in range(2, 6)
                for config in _g_u_nets(",".join(_NODES[:depth]), name=str(depth))
            ),
        ),
        (
            "SEP-N",
            "",
            tuple(
                changed(config, blocks=depth, name=str(depth))
                for depth in range(1, 6)
                for config in _SMALL
            ),
        ),
    ),
    rows_by="name",
    shares=(("SEP-N", "2", "tableA1", "5"),),
)


def _shallow() -> Grids:
    """S2GC and GCNII with 4 and 8 convolutions, SEP-N with 5."""
    counts = (4, 8)
    linear = tuple(c for count in counts for c in _linear(power=count, name=str(count)))
    deep = tuple(
        ("GCNII", data, tuple(c for n in counts for c in _gcnii(data, n, name=str(n))))
        for data in NODE_DATASETS
    )
    sep_n = tuple(changed(config, name="5") for config in _SMALL)
    return (("S2GC", "", linear), *deep, ("SEP-N", "", sep_n))


_TABLE_A1 = replace(
    TABLE3,
    name="tableA1",
    title="Node classification with few convolutions",
    systems=("S2GC", "GCNII", "SEP-N"),
    grid=_SMALL,
    grids=_shallow(),
    rows_by="name",
    shares=(("SEP-N", "5", "table4", "2"),),  # two blocks have five convolutions
)


def _quick(full: Protocol) -> Protocol:
    """A smoke test of two minutes on a laptop, not a measurement."""
    small: Grids = (
        ("SGC", "", _linear(power=2)[1:2]),
        ("S2GC", "", _linear(power=4, name="4")[1:2]),
        ("GCNII", "", (changed(_GCNII, layers=4, name="4"),)),
        ("g-U-Nets", "", _g_u_nets("400,200", name="2")),
        ("DGI", "", (node_config(64, weight_decay=0.0),)),
        ("SEP-N", "", (node_config(32, dropout=0.6, blocks=2, pool_dropout=0.3, name="2"),)),
    )
    names = {system for system, _, _ in small}
    rest = tuple(row for row in _PUBLISHED if row[0] not in names)
    return replace(
        full,
        name=f"{full.name}-quick",
        title=f"{full.title}, a short trial",
        datasets=("Cora",),
        grids=(*small, *rest),
        shares=(),
        seeds=1,
        epochs=100,
        patience=15,
    )


NODE_PROTOCOLS = (
    *(TABLE3, _TABLE4, _TABLE_A1),
    *(_quick(table) for table in (TABLE3, _TABLE4, _TABLE_A1)),
)
