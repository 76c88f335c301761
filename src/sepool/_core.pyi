"""The compiled core: arrays in, arrays out."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

def csr(
    node_ptr: NDArray[np.int64],
    edge_ptr: NDArray[np.int64],
    u: NDArray[np.int32] | NDArray[np.int64],
    v: NDArray[np.int32] | NDArray[np.int64],
    w: NDArray[np.float64] | None,
    *,
    both: bool,
    self_loops: bool,
    symmetrise: bool,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64] | None,
    NDArray[np.int64] | None,
    NDArray[np.float64],
]:
    """Edge lists of several graphs to compressed rows: indptr, indices, weights, loops, unit."""

def trees(
    node_ptr: NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    *,
    height: int,
    method: str,
    seed: int,
    num_threads: int,
    progress: Callable[[float, str], None] | None,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
]:
    """The coding tree of every graph: counts, parent, volume, cut, entropy."""
