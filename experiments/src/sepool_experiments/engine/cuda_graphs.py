"""Capture of training steps as CUDA graphs while other threads train on the same GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from sepool_experiments.engine.launch_lock import LAUNCH_LOCK
from sepool_experiments.kernels.registry import captured_steps


def capture(
    step: Callable[[], None], state: Sequence[Tensor], stream: torch.cuda.Stream
) -> torch.cuda.CUDAGraph:
    """Capture a step on a stream; it modifies the state alone, which is restored afterwards."""
    with LAUNCH_LOCK.capturing(), captured_steps():
        saved = [tensor.clone() for tensor in state]
        step()  # libraries initialise at first use, which cannot be captured
        for tensor, before in zip(state, saved, strict=True):
            tensor.copy_(before)
        current: Any = torch.cuda.current_stream()
        current.synchronize()
        graph = _capture(step, stream)
        current.wait_stream(stream)
    return graph


def _capture(step: Callable[[], None], stream: torch.cuda.Stream) -> torch.cuda.CUDAGraph:
    """Capture without `torch.cuda.graph`, which synchronises all streams and empties the cache."""
    free, memory = torch.cuda.mem_get_info()
    if free < memory // 4:  # memory of older graphs stays allocated until it is requested
        torch.cuda.empty_cache()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            step()
        finally:
            graph.capture_end()
    return graph
