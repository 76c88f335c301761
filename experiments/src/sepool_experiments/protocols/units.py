"""What is trained: a configuration, a unit of work, and what comes out of it."""

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

    Rows and keys hold only what differs from the defaults, so a default never changes and a new
    field leaves all old rows valid.

    Args:
        hidden: width of every layer.
        batch: graphs a batch.
        dropout: probability of dropping, in the classifier.
        lr: learning rate of Adam.
        weight_decay: of Adam.
        conv: the convolution of every block.
        readout: how a block's nodes become one vector, "sum" or "mean".
        pooled: edges of the pooled graph, "weighted" (the paper) or "binary" (the released code).
        blocks: blocks that pool, 3 (the paper) or 2 (the released code).
        input_link: the summed input features go to the classifier too.
        schedule: "constant", or "cosine" decay after a warm-up of 50 epochs.
        extra: what a single system needs, as pairs of name and value.

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
        """All settings, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "extra": [list(pair) for pair in self.extra]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """The configuration with these settings, and defaults for the others.

        >>> Config.from_dict({"hidden": 32, "extra": [["depth", 2]]}).extra
        (('depth', 2),)
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"a configuration has no {', '.join(unknown)}; it has {sorted(known)}")
        extra = tuple((str(name), value) for name, value in values.get("extra", ()))
        return cls(**{**values, "extra": extra})

    def changes(self) -> dict[str, Any]:
        """The settings that differ from the defaults, in the order of the fields."""
        mine = self.to_dict()
        return {name: mine[name] for name, usual in _DEFAULTS.items() if mine[name] != usual}

    def __str__(self) -> str:
        """The differences on one line.

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
        system: the model, under its published name.
        tree: what SEP pools along ("best", "random", ...: see `load_trees`), "" without one.
        config: the settings.
        fold: the fold that tests, from 0.
        seed: of the initial weights and of the batches.

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
        """What tells this unit from every other, the same in every version and on every machine."""
        names = ("protocol", "dataset", "system", "tree", "fold", "seed")
        identity = {name: getattr(self, name) for name in names}
        text = json.dumps({**identity, "config": self.config.changes()}, sort_keys=True)
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:16]

    @property
    def keeps_curve(self) -> bool:
        """Whether the losses of every epoch are worth keeping: they are for a few units only."""
        return self.fold == 0 and self.seed == 0

    def __str__(self) -> str:
        tree = f" ({self.tree})" if self.tree else ""
        place = f"fold {self.fold}, seed {self.seed}"
        return f"{self.protocol} {self.dataset} {self.system}{tree}, {place}, {self.config}"


@dataclass(frozen=True)
class Result:
    """What a training gave; accuracies are fractions of 1.

    Args:
        unit: what was trained.
        epochs: how many epochs it trained.
        best_epoch: the epoch whose weights were tested, that of the lowest validation loss.
        val_loss: validation loss at that epoch.
        val_accuracy: validation accuracy at that epoch.
        test_accuracy: test accuracy at that epoch.
        seconds: its share of the time spent.
        curve: training and validation loss of every epoch, if they were kept.
    """

    unit: Unit
    epochs: int
    best_epoch: int
    val_loss: float
    val_accuracy: float
    test_accuracy: float
    seconds: float
    curve: tuple[tuple[float, float], ...] | None = None
