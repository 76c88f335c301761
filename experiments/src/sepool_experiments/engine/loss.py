"""Cross entropy of the graphs of many replicas."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def losses(logits: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Return the cross entropy of every graph, one row a replica; 0 for padding."""
    flat = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return flat.view_as(y) * mask


def mean_losses(logits: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Return the mean cross entropy over the graphs of every replica.

    Args:
        logits: one row a graph, in equal numbers for every replica; the last may be padding.
        y: classes without that padding, one row a replica.
        mask: False for the padding among them.

    Example:
        >>> import torch
        >>> y, mask = torch.tensor([[0, 1]]), torch.tensor([[True, False]])
        >>> mean_losses(torch.zeros(3, 2), y, mask)
        tensor([0.6931])
    """
    by_replica = logits.view(len(y), -1, logits.size(1))[:, : y.size(1)]
    return losses(by_replica, y, mask).sum(1) / mask.sum(1)
