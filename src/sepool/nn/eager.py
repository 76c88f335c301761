"""Behaviour that all layers and models share."""

from __future__ import annotations

from typing import NoReturn


class Eager:
    """Base of layers and models, which run eagerly or compiled, but not in TorchScript."""

    def reset_parameters(self) -> None:
        """Draw new weights; layers without weights have none to draw."""

    def __prepare_scriptable__(self) -> NoReturn:
        """Called by torch.jit.script."""
        raise NotImplementedError(
            f"{type(self).__name__} has no TorchScript; use torch.compile or torch.export"
        )
