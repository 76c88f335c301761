"""Choice of the configurations that are trained with all seeds, by validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sepool_experiments.protocols.longrange import LongRange
from sepool_experiments.protocols.units import Unit

Key = tuple[str, str, str]  # dataset, system, tree


def chosen_configs(protocol: LongRange, rows: pd.DataFrame) -> dict[Key, tuple[str, int, float]]:
    """Return the configuration of the best validation score, the number searched, and the score.

    Only configurations with all trainings of the search take part.
    """
    own = rows[(rows["protocol"] == protocol.name) & (rows["run_digest"] == protocol.digest)]
    search = own[(own["seed"] < protocol.search) & (own["fold"] < protocol.search_folds)]
    expected = protocol.search * protocol.search_folds
    chosen = {}
    for key, group in search.groupby(["dataset", "system", "tree"]):
        by_config = group.groupby("config")
        complete = by_config.filter(lambda part: len(part) == expected)
        if complete.empty:
            continue
        means = complete.groupby("config")[["val_accuracy", "val_loss"]].mean().reset_index()
        means["val_accuracy"] = means["val_accuracy"].round(9)
        order = ["val_accuracy", "val_loss", "config"]
        best = means.sort_values(order, ascending=[False, True, True]).iloc[0]
        chosen[key] = str(best["config"]), len(means), float(best["val_accuracy"])
    return chosen


def final_units(protocol: LongRange, units: Sequence[Unit], rows: pd.DataFrame) -> list[Unit]:
    """Return the units of the configurations that the search has chosen."""
    chosen = chosen_configs(protocol, rows)
    none = ("", 0, np.nan)
    return [
        unit
        for unit in units
        if chosen.get((unit.dataset, unit.system, unit.tree), none)[0] == str(unit.config)
    ]
