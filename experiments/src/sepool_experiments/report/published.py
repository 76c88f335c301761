"""Published accuracies."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

# Sections of the file by protocol, and its spelling of some datasets.
_SECTIONS = {
    "table1": "graph_classification",
    "released": "graph_classification",
    "table2": "sep_g_backbones",
    "table3": "node_classification",
    "sepn-search": "node_classification",
    "table4": "node_depth",
    "tableA1": "node_shallow",
}
_SPELLINGS = {"CiteSeer": "Citeseer", "PubMed": "Pubmed"}


@dataclass(frozen=True)
class Published:
    """Mean and standard deviation of accuracy, in percent."""

    mean: float
    std: float


def published(protocol: str, system: str, dataset: str) -> Published | None:
    """Return a published accuracy, or None.

    Example:
        >>> published("table1", "SEP-G", "MUTAG")
        Published(mean=85.56, std=1.09)
        >>> published("table1", "SEP-G", "ENZYMES") is None
        True
    """
    name = _SECTIONS.get(protocol.removesuffix("-quick"), "")
    section, column = _file().get(name, {}), _SPELLINGS.get(dataset, dataset)
    if name == "node_depth":  # dataset, system, number of blocks
        plain, _, blocks = system.removesuffix(")").partition("(")
        figure = section.get(column, {}).get(plain, {}).get(blocks)
        return None if figure is None else Published(*figure)
    if name == "node_shallow":  # without deviations
        figure = section.get(column, {}).get(system)
        return None if figure is None else Published(figure, math.nan)
    figure = section.get(system, {}).get(column)
    return None if figure is None else Published(figure["mean"], figure["std"])


def citation() -> str:
    """Return the reference of the published accuracies.

    >>> citation().endswith("International Conference on Machine Learning, 2022.")
    True
    """
    return str(_file()["citation"])


@cache
def _file() -> dict[str, Any]:
    text = (
        resources.files("sepool_experiments.report").joinpath("published.json").read_text("utf-8")
    )
    values: dict[str, Any] = json.loads(text)
    return values
