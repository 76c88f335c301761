"""Studies of node classification: ablation and search of SEP-N, causes of weak baselines."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from sepool_experiments.protocols.nodes import LIGHT, PREDICTED, TABLE3, changed, node_config
from sepool_experiments.protocols.units import Config, Value

# Changes that may raise the effect of the hierarchy, each alone and some together.
_SPREAD: dict[str, Value] = {"blend": 0.9, "similarity": "spread"}
CHANGES: dict[str, dict[str, Value]] = {
    "as published": {},
    "levels 2, 3": {"levels": "2,3"},
    "levels 1, 3": {"levels": "1,3"},
    "level 2, 1 block": {"levels": "2", "blocks": 1},
    "height 4": {"height": 4},
    "height 5": {"height": 5},
    "residual skips": {"skip": "add"},
    "no skips": {"skip": "none"},
    "smoothed once": {"smooth": 1},
    "smoothed twice": {"smooth": 2},
    "propagated": {"propagate": 10},
    "input dropout": {"input_dropout": 0.5},
    "first layer decays": {"weight_decay": 5e-3, "decay_rest": 0.0},
    "patience 100": {"patience": 100},
    "mean pooling": {"reduce": "mean"},
    "sym pooling": {"reduce": "sym"},
    "binary pooled": {"pooled": "binary"},
    "features 0.5": {"blend": 0.5},
    "features 0.9": {"blend": 0.9},
    "predicted 0.5": {"blend": 0.5, "similarity": "predicted"},
    "predicted 0.9": PREDICTED,
    "spread 0.9": _SPREAD,
    "all, with weights": {
        **{"levels": "2,3", "skip": "add", "smooth": 1, "decay_rest": 0.0, "patience": 100},
        **{"reduce": "sym", **PREDICTED},
    },
    "light": LIGHT,
    "light, levels 2, 3": {**LIGHT, "levels": "2,3"},
    "light, predicted": {**LIGHT, **PREDICTED},
    "light, predicted, levels 2, 3": {**LIGHT, **PREDICTED, "levels": "2,3"},
    "light, spread": {**LIGHT, **_SPREAD},
    "light, spread, levels 2, 3": {**LIGHT, **_SPREAD, "levels": "2,3"},
    "light, spread, propagated": {**LIGHT, **_SPREAD, "propagate": 10},
    "light, spread, input dropout": {**LIGHT, **_SPREAD, "input_dropout": 0.5},
}
# The published grid also has a decay of 0.02, at which all weights end at 0.
_RATES = tuple(
    node_config(64, dropout=drop, blocks=2, pool_dropout=pool)
    for drop, pool in product((0.5, 0.8), (0.0, 0.6))
)
_ABLATION = replace(
    TABLE3,
    name="sepn-ablation",
    title="SEP-N, one change at a time",
    systems=("SEP-N",),
    grid=tuple(changed(c, **change, name=name) for name, change in CHANGES.items() for c in _RATES),
    grids=(),
    rows_by="name",
)
# Of all weights, or of the first layer and of the rest.
_BOTH_DECAYS = ((5e-4, 5e-4), (5e-3, 0.0), (5e-3, 5e-4), (0.01, 5e-4))
_HIERARCHIES: tuple[dict[str, Value], ...] = (
    {"blocks": 2, "levels": "1,2"},
    {"blocks": 2, "levels": "2,3"},
    {"blocks": 4},
    {"blocks": 5},
)
_SHAPES = tuple({**tree, **shape} for tree in (PREDICTED, _SPREAD) for shape in _HIERARCHIES)
# 128 configurations of 8 shapes: settings that differ between replicas cost little.
_SEARCH = replace(
    TABLE3,
    name="sepn-search",
    title="SEP-N, a search over changes chosen by validation",
    systems=("SEP-N",),
    grid=tuple(
        node_config(
            64, dropout=drop, weight_decay=first, decay_rest=rest, patience=100, **LIGHT, **shape
        )
        for shape in _SHAPES
        for drop, (first, rest) in product((0.3, 0.5, 0.65, 0.8), _BOTH_DECAYS)
    ),
    grids=(),
)  # fmt: skip

# Baselines below their published figure: settings of table 3, and one change at a time.
_CAUSES: dict[str, dict[str, dict[str, Value]]] = {
    "GIN": {
        "dropout and decay of GCN": {"dropout": 0.5, "weight_decay": 5e-4},
        "width 64": {"hidden": 64},
        "rate 0.002": {"lr": 2e-3},
        "patience 200": {"patience": 200},
        "rate 0.002, patience 200": {"lr": 2e-3, "patience": 200},
    },
    "g-U-Nets": {
        "patience 200": {"patience": 200},
        "half of the features": {"input_dropout": 0.5},
        "half of the features, patience 200": {"input_dropout": 0.5, "patience": 200},
        "half of the features, all edges": {"input_dropout": 0.5, "edge_dropout": 0.0},
        "half of the features, one pooling": {"input_dropout": 0.5, "sizes": "2000"},
    },
    "DGI": {
        "encoder's patience 100": {"encoder_patience": 100},
        "probe's patience 200": {"patience": 200},
        "probe decays by 5e-4": {"weight_decay": 5e-4},
        "probe decays by 5e-3": {"weight_decay": 5e-3},
    },
    "FastGCN": {"1,000 samples": {"samples": 1000}, "4,000 samples": {"samples": 4000}},
}


def _variants(system: str) -> tuple[Config, ...]:
    """The first configuration of a system in table 3, plain and with each change."""
    (base, *_), changes = TABLE3.configs("", system), {"as in table 3": {}, **_CAUSES[system]}
    return tuple(changed(base, **change, name=name) for name, change in changes.items())


_CAUSES_TABLE = replace(
    TABLE3,
    name="table3-causes",
    title="Node baselines that fall short, one change at a time",
    systems=tuple(_CAUSES),
    grid=(),
    grids=tuple((system, "", _variants(system)) for system in _CAUSES),
    rows_by="name",
)

NODE_STUDIES = (_ABLATION, _SEARCH, _CAUSES_TABLE)
