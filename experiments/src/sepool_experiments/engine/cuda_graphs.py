"""Steps of training recorded as CUDA graphs, while other threads train on the same GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from sepool_experiments.engine.launch_lock import GATE
from sepool_experiments.layers.ops import recorded_steps


def record(
    step: Callable[[], None], state: Sequence[Tensor], side: torch.cuda.Stream
) -> torch.cuda.CUDAGraph:
    """Records a step.

    Args:
        step: what to record; it changes nothing but the state.
        state: what it changes, which is left as it was.
        side: the stream to record on.
    """
    with GATE.recording(), recorded_steps():
        saved = [tensor.clone() for tensor in state]
        step()  # what libraries set up at first use cannot be recorded
        for tensor, before in zip(state, saved, strict=True):
            tensor.copy_(before)
        stream: Any = torch.cuda.current_stream()
        stream.synchronize()
        found = _capture(step, side)
        stream.wait_stream(side)
    return found


def _capture(step: Callable[[], None], side: torch.cuda.Stream) -> torch.cuda.CUDAGraph:
    """PyTorch's own `torch.cuda.graph` waits for all streams and empties the cache of memory first.

    Every other thread would lose both.
    """
    free, memory = torch.cuda.mem_get_info()
    if free < memory // 4:  # what older recordings held is kept until somebody asks for it
        torch.cuda.empty_cache()
    found = torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        found.capture_begin(capture_error_mode="thread_local")
        try:
            step()
        finally:
            found.capture_end()
    return found
