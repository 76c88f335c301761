"""Registry of the Triton kernels and the switch between them and PyTorch.

A kernel replaces PyTorch inside one function of the package. The same function with the kernel
disabled is the reference: ``SEPOOL_KERNELS=0`` in the environment disables all kernels, `disabled`
some of them. Without a GPU no kernel is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

LARGE = 1 << 20  # elements from which on a kernel's launch costs less than it saves

# Integer arguments that Triton must not specialise on: they differ in every dataset and batch.
COUNTS = ("rows", "capacity", "length", "lines", "replicas", "graphs", "depth")


@dataclass(frozen=True)
class Kernel:
    """A group of Triton kernels behind one operation.

    Args:
        module: module of this package that launches them.
        min_numel: smallest input for which they pay outside of CUDA graphs.
        dtype: type of the input.
    """

    module: str
    min_numel: int = 0
    dtype: torch.dtype = torch.float32


KERNELS = {
    "segment_sum": Kernel("rows", LARGE),
    "dropout": Kernel("rows"),
    "linear": Kernel("layer", LARGE),
    "norm": Kernel("norm"),
    "attention": Kernel("attention", LARGE),
    "batches": Kernel("batches", dtype=torch.int64),
}

# Module state, not a context variable: backward passes run in threads of their own.
_disabled: set[str] = set(KERNELS) if os.environ.get("SEPOOL_KERNELS") == "0" else set()
_capturing = False
_interpreted = False


def use_kernel(name: str, x: Tensor, rows: int = 0) -> bool:
    """Return True if kernel ``name`` replaces PyTorch for input ``x``.

    Args:
        name: key of `KERNELS`.
        x: input of the operation.
        rows: number of output rows as wide as those of ``x``, if larger than its own.
    """
    kernel = KERNELS[name]
    if name in _disabled or x.dtype != kernel.dtype:
        return False
    if _interpreted:
        return True
    if not x.is_cuda or not _has_triton():
        return False
    if _capturing or not kernel.min_numel:
        return True
    return max(rows, len(x)) * x[:1].numel() >= kernel.min_numel


@cache
def load(module: str) -> Any:
    """Return a module of this package; only called after `use_kernel`."""
    return import_module(f"sepool_experiments.kernels.{module}")


@contextmanager
def disabled(*names: str) -> Iterator[None]:
    """Compute operations with PyTorch; all of them without ``names``."""
    if unknown := set(names) - set(KERNELS):
        raise ValueError(
            f"unknown kernels {sorted(unknown)}; expected some of {', '.join(KERNELS)}"
        )
    before = set(_disabled)
    _disabled.update(names or KERNELS)
    try:
        yield
    finally:
        _disabled.clear()
        _disabled.update(before)


@contextmanager
def captured_steps() -> Iterator[None]:
    """Use kernels for small inputs as well: a step in a CUDA graph has no launches later."""
    global _capturing
    _capturing = True
    try:
        yield
    finally:
        _capturing = False


@contextmanager
def interpreted() -> Iterator[None]:
    """Use kernels on the CPU and for all sizes: for tests, with Triton's interpreter."""
    global _interpreted
    _interpreted = True
    try:
        yield
    finally:
        _interpreted = False


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None
