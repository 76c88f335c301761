"""Models without the drawing of their first weights."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode


class Undrawn(TorchFunctionMode):
    """Leaves out the drawing of weights that are replaced at once.

    PyTorch has one source of random numbers for all threads, and another may be drawing the weights
    of its seed; a GPU's must not be touched while another thread records a step.

    Example:
        >>> import torch
        >>> before = torch.get_rng_state()
        >>> with Undrawn():
        ...     layer = torch.nn.Linear(2, 3)
        >>> torch.equal(torch.get_rng_state(), before)
        True
    """

    names = ("uniform_", "normal_", "kaiming_uniform_", "xavier_uniform_", "trunc_normal_")

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__name__", "") in self.names:  # PyTorch asks at several places
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
