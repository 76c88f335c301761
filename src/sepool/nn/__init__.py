"""Layers and models that pool along a coding tree; needs torch and torch-geometric.

>>> from sepool.nn import SEPG
>>> SEPG(in_channels=7, hidden=64, out_channels=2, height=3)
SEPG(7, 64, 2, height=3, conv=GCN, blocks=3)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sepool.extras import needs

with needs("torch", "sepool.nn"):
    import torch as _torch  # noqa: F401
    import torch_geometric as _torch_geometric  # noqa: F401

if TYPE_CHECKING:
    from sepool.nn.attention.clusters import ClusterAttention as ClusterAttention
    from sepool.nn.attention.tree import TreeAttention as TreeAttention
    from sepool.nn.attention.tree import tree_distance as tree_distance
    from sepool.nn.autoencoder import SEPAutoencoder as SEPAutoencoder
    from sepool.nn.convs import level_graphs as level_graphs
    from sepool.nn.entropy_loss import structural_entropy_loss as structural_entropy_loss
    from sepool.nn.graph_net import SEPGraphNet as SEPGraphNet
    from sepool.nn.pooling import Pooled as Pooled
    from sepool.nn.pooling import SEPooling as SEPooling
    from sepool.nn.pooling import SEPUnpooling as SEPUnpooling
    from sepool.nn.sepg import SEPG as SEPG
    from sepool.nn.sepn import SEPN as SEPN
    from sepool.nn.tree_conv import TreeConv as TreeConv

__all__ = [
    "SEPG",
    "SEPN",
    "ClusterAttention",
    "Pooled",
    "SEPAutoencoder",
    "SEPGraphNet",
    "SEPUnpooling",
    "SEPooling",
    "TreeAttention",
    "TreeConv",
    "level_graphs",
    "structural_entropy_loss",
    "tree_distance",
]

# Public names by module, imported on first use: a layer does not pull in the models.
_MODULES = {
    "SEPG": "sepool.nn.sepg",
    "SEPN": "sepool.nn.sepn",
    "SEPAutoencoder": "sepool.nn.autoencoder",
    "SEPGraphNet": "sepool.nn.graph_net",
    "SEPooling": "sepool.nn.pooling",
    "SEPUnpooling": "sepool.nn.pooling",
    "Pooled": "sepool.nn.pooling",
    "TreeConv": "sepool.nn.tree_conv",
    "ClusterAttention": "sepool.nn.attention.clusters",
    "TreeAttention": "sepool.nn.attention.tree",
    "structural_entropy_loss": "sepool.nn.entropy_loss",
    "tree_distance": "sepool.nn.attention.tree",
    "level_graphs": "sepool.nn.convs",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'sepool.nn' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
