"""What lines of results must look like, so that damage is found where it is."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from sepool_experiments.protocols.units import Config
from sepool_experiments.results.lines import IDENTITY, MEASURED

_USUAL = {field.name: field.default for field in fields(Config)}
_TEXTS = tuple(name for name in IDENTITY if name not in ("fold", "seed"))
_COUNTS = ("epochs", "best_epoch")
_FRACTIONS = ("val_accuracy", "test_accuracy")


def check_run(run: dict[str, Any]) -> None:
    """Refuses the description of a run whose fields are no texts, or that has no name."""
    if not run.get("id"):
        raise ValueError("the run has no id")
    for name, value in run.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text, got {value!r}")


def check_row(row: dict[str, Any]) -> None:
    """Refuses a row whose unit or measured values cannot be.

    What is not measured is no fault: pictures measure other things than tables.

    >>> check_row({"dataset": "MUTAG", "system": "GCN", "tree": "", "fold": 0, "seed": -1})
    Traceback (most recent call last):
    ValueError: seed must be a whole number from 0, got -1
    """
    check_unit(row)
    for name in _COUNTS:
        if name in row:
            _check_count(name, row[name])
    for name in _FRACTIONS:
        if name in row and not (_is_number(row[name]) and 0 <= row[name] <= 1):
            raise ValueError(f"{name} must be a number from 0 to 1, got {row[name]!r}")
    if "seconds" in row and not (_is_number(row["seconds"]) and 0 <= row["seconds"] < math.inf):
        raise ValueError(f"seconds must be a number from 0, got {row['seconds']!r}")
    if "val_loss" in row:
        _check_loss("val_loss", row["val_loss"])


def check_complete(row: dict[str, Any]) -> None:
    """Refuses a row of a table in which a measured value is missing."""
    for name in MEASURED:
        if name not in row:
            raise ValueError(f"{name} is missing")


def check_curve(row: dict[str, Any]) -> None:
    """Refuses a line of a file of curves that is none."""
    check_unit(row)
    for train, val in row["curve"]:
        _check_loss("a training loss", train)
        _check_loss("a validation loss", val)


def check_unit(row: dict[str, Any]) -> None:
    """Refuses a row that does not say which unit it is about."""
    for name in IDENTITY:
        if name not in row:
            raise ValueError(f"{name} is missing")
    for name in _TEXTS:
        if not isinstance(row[name], str):
            raise ValueError(f"{name} must be a text, got {row[name]!r}")
    for name in ("fold", "seed"):
        _check_count(name, row[name])
    for name in row.keys() & _USUAL.keys():
        _check_setting(name, row[name])


def _check_setting(name: str, value: Any) -> None:
    usual = _USUAL[name]
    if isinstance(usual, tuple):
        for pair in value:
            if len(pair) != 2 or not isinstance(pair[0], str):
                raise ValueError(f"{name} must be pairs of a name and a value, got {value!r}")
    elif isinstance(usual, float):
        if not _is_number(value):
            raise ValueError(f"{name} must be a number, got {value!r}")
    elif type(value) is not type(usual):
        raise ValueError(f"{name} must be of the kind of {usual!r}, got {value!r}")


def _check_count(name: str, value: Any) -> None:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a whole number from 0, got {value!r}")


def _check_loss(name: str, value: Any) -> None:
    # null stands for a loss that is not finite.
    if value is not None and not _is_number(value):
        raise ValueError(f"{name} must be a number, got {value!r}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
