"""Hierarchies as inputs of torch.export: a pytree of their tensors."""

from __future__ import annotations

from typing import Any

from sepool.extras import needs
from sepool.pyg.hierarchy import Hierarchy

with needs("torch", "sepool.pyg.pytree"):
    import torch
    from torch import Tensor
    from torch.utils import _pytree as pytree

_TENSORS = ("order", "sizes", "edges", "weights")


def _flatten(levels: Hierarchy) -> tuple[list[Any], list[int]]:
    return [getattr(levels, name) for name in _TENSORS], [levels.height, levels.edge_layout]


def _flatten_with_keys(levels: Hierarchy) -> tuple[list[Any], list[int]]:
    values, context = _flatten(levels)
    keys = [pytree.GetAttrKey(name) for name in _TENSORS]
    return list(zip(keys, values, strict=True)), context


def _unflatten(values: Any, context: list[int]) -> Hierarchy:
    order, sizes, edges, weights = values
    height, layout = context
    counts = _length(sizes[-1]), _length(order)
    return Hierarchy(height, counts[0], order, sizes, edges, weights, layout, counts[1])


def _length(leaf: Any) -> int:
    """Rows of a tensor; a tree of other leaves, such as dynamic shapes, has no rows."""
    return leaf.size(0) if isinstance(leaf, Tensor) else 0


def register_hierarchy() -> None:
    """Register `Hierarchy` with PyTorch, as an input of programs and of their files."""
    torch.serialization.add_safe_globals([Hierarchy])
    pytree.register_pytree_node(
        Hierarchy,
        _flatten,
        _unflatten,
        serialized_type_name="sepool.pyg.hierarchy.Hierarchy",
        flatten_with_keys_fn=_flatten_with_keys,
    )
