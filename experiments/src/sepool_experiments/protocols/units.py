"""Configuration, unit of work and result of one training."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

Value = str | float | int | bool


@dataclass(frozen=True)
class Config:
    """The settings of one training that a grid may vary.

    Rows and keys hold the differences from the defaults: defaults never change, and a new field
    leaves all old rows valid.

    Args:
        hidden: width of every layer.
        batch: graphs a batch.
        dropout: dropout probability of the classifier.
        lr: learning rate of Adam.
        weight_decay: of Adam.
        conv: the convolution of every block.
        readout: reduction of a block's nodes to one vector, "sum" or "mean".
        pooled: edges of the pooled graph, "weighted" (the paper) or "binary" (the released code).
        blocks: number of pooling blocks, 3 (the paper) or 2 (the released code).
        input_link: pass the summed input features to the classifier too.
        schedule: "constant", or "cosine" decay after a warm-up of 50 epochs.
        extra: settings of a single system, as pairs of name and value.

    Example:
        >>> Config(hidden=128, dropout=0.5).changes()
        {'hidden': 128, 'dropout': 0.5}
    """

    hidden: int = 64
    batch: int = 128
    dropout: float = 0.0
    lr: float = 5e-4
    weight_decay: float = 1e-4
    conv: str = "GCN"
    readout: str = "sum"
    pooled: str = "weighted"
    blocks: int = 3
    input_link: bool = False
    schedule: str = "constant"
    extra: tuple[tuple[str, Value], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as JSON types."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "extra": [list(pair) for pair in self.extra]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """Return the configuration with these settings and defaults for the others.

        >>> Config.from_dict({"hidden": 32, "extra": [["depth", 2]]}).extra
        (('depth', 2),)
        """
        names = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - names):
            raise ValueError(f"a configuration has no {', '.join(unknown)}; it has {sorted(names)}")
        extra = tuple((str(name), value) for name, value in values.get("extra", ()))
        return cls(**{**values, "extra": extra})

    def changes(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, in the order of the fields."""
        values = self.to_dict()
        return {name: values[name] for name in _DEFAULTS if values[name] != _DEFAULTS[name]}

    def __str__(self) -> str:
        """Return the differences from the defaults on one line.

        >>> print(Config(hidden=128, schedule="cosine"), "|", Config())
        hidden=128 schedule=cosine | defaults
        """
        named = {key: value for key, value in self.changes().items() if key != "extra"}
        pairs = [*named.items(), *self.extra]
        return " ".join(f"{key}={value}" for key, value in pairs) or "defaults"


_DEFAULTS = Config().to_dict()


@dataclass(frozen=True)
class Unit:
    """One training.

    Args:
        protocol: name of the protocol.
        dataset: name of the dataset.
        system: published name of the model.
        tree: tree that SEP pools along ("best", "random", ...: see `load_trees`), "" for none.
        config: the settings.
        fold: index of the test fold, from 0.
        seed: seed of initial weights and batches.

    Example:
        >>> Unit("table1", "MUTAG", "SEP-G", "best", Config(), fold=0, seed=0).key
        '0ad3a54348c6d1a9'
    """

    protocol: str
    dataset: str
    system: str
    tree: str
    config: Config
    fold: int
    seed: int

    @property
    def key(self) -> str:
        """Identifier of the unit, equal in every version and on every machine."""
        names = ("protocol", "dataset", "system", "tree", "fold", "seed")
        identity = {name: getattr(self, name) for name in names}
        text = json.dumps({**identity, "config": self.config.changes()}, sort_keys=True)
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:16]

    @property
    def keeps_curve(self) -> bool:
        """True where the loss curve is stored: fold 0, seed 0."""
        return self.fold == 0 and self.seed == 0

    def __str__(self) -> str:
        tree = f" ({self.tree})" if self.tree else ""
        numbers = f"fold {self.fold}, seed {self.seed}"
        return f"{self.protocol} {self.dataset} {self.system}{tree}, {numbers}, {self.config}"


@dataclass(frozen=True)
class Result:
    """Outcome of one training; accuracies are fractions of 1.

    Args:
        unit: the unit.
        epochs: number of epochs trained.
        best_epoch: epoch of the lowest validation loss, of which the weights are tested.
        val_loss: validation loss at that epoch.
        val_accuracy: validation accuracy at that epoch.
        test_accuracy: test accuracy at that epoch.
        seconds: its share of the run time.
        curve: training and validation loss of every epoch, or None.
    """

    unit: Unit
    epochs: int
    best_epoch: int
    val_loss: float
    val_accuracy: float
    test_accuracy: float
    seconds: float
    curve: tuple[tuple[float, float], ...] | None = None
