"""Published accuracies."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_SAME = {"released": "table1", "sepn-search": "table3"}  # tables with the same published figures


@dataclass(frozen=True)
class Published:
    """Mean and standard deviation (NaN where none is given) of accuracy, in percent."""

    mean: float
    std: float


def published(protocol: str, system: str, dataset: str) -> Published | None:
    """Return the published accuracy of a row of a table, full or quick, or None."""
    name = protocol.removesuffix("-quick")
    figure = _file().get(_SAME.get(name, name), {}).get(system, {}).get(dataset)
    return None if figure is None else Published(figure[0], figure[1] or math.nan)


def citation() -> str:
    """Return the reference of the published accuracies."""
    return str(_file()["citation"])


@cache
def _file() -> Any:
    return json.loads(resources.files(__package__).joinpath("published.json").read_text("utf-8"))
