"""Where kernels of our own come from."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

# Numbers that no kernel is compiled anew for: they are others in every dataset and batch.
COUNTS = ("rows", "room", "length", "lines", "replicas", "graphs", "depth")


def load_kernels(module: str) -> Any:
    """A module of Triton kernels; None where PyTorch is built for no GPU, or came without Triton.

    >>> load_kernels("sepool_experiments.layers.no_such_kernels") is None
    True
    """
    if torch.version.cuda is None:
        return None
    try:
        return import_module(module)
    except ImportError:
        return None
