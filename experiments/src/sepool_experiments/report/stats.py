"""Selection of configurations by validation, accuracies with spread, and paired tests.

Functions take the rows of one cell: one system (along one tree) on one dataset, with every
configuration, fold and seed. Test accuracies take no part in the selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

MAX_SEED_SETS = 2000  # candidate sets of seeds; beyond that the largest part may be missed
RULES = {
    "customary": (
        "one configuration for all folds, the one of highest mean validation accuracy; of equals "
        "that of lower validation loss"
    ),
    "strict": (
        "in every fold the configuration of highest validation accuracy in that fold; of equals "
        "that of lower validation loss"
    ),
}


def rules_of(folds: int) -> tuple[str, ...]:
    """Return the rules that can differ: with one fold both select the same.

    >>> rules_of(10), rules_of(1)
    (('customary', 'strict'), ('customary',))
    """
    return tuple(RULES)[: 2 if folds > 1 else 1]


@dataclass(frozen=True)
class Selected:
    """Test accuracies under the chosen configurations.

    Args:
        accuracy: fractions of 1, one row a fold and one column a seed.
        configs: texts of the chosen configurations.
    """

    accuracy: pd.DataFrame
    configs: tuple[str, ...]

    @property
    def mean(self) -> float:
        """Mean over seeds of the means over folds, in percent."""
        return 100 * float(self.accuracy.mean(axis=0).mean())

    @property
    def spread(self) -> float:
        """Standard deviation over seeds of the means over folds, in percent; nan for one seed."""
        return 100 * float(self.accuracy.mean(axis=0).std(ddof=1))

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return int(self.accuracy.shape[1])

    @property
    def folds(self) -> int:
        """Number of folds."""
        return int(self.accuracy.shape[0])

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's confidence interval of the mean over seeds; the mean for one seed."""
        means = 100 * self.accuracy.mean(axis=0).to_numpy()
        if len(means) < 2 or np.ptp(means) == 0:
            return self.mean, self.mean
        low, high = stats.t.interval(confidence, len(means) - 1, means.mean(), stats.sem(means))
        return float(low), float(high)


def select(cell: pd.DataFrame, rule: str, folds: int | None = None) -> Selected | None:
    """Select configurations by validation accuracy, ties by validation loss.

    Candidates are configurations with the same seeds, each seed with all folds, so that an
    unfinished run gives no biased accuracy. None if no seed has all folds.
    """
    fair = _comparable(cell, folds or cell["fold"].nunique())
    if fair.empty:
        return None
    groups = ["config"] if rule == "customary" else ["fold", "config"]
    means = fair.groupby(groups, sort=True)[["val_accuracy", "val_loss"]].mean().reset_index()
    # The last bits depend on the order of summation and must not break ties.
    means["val_accuracy"] = means["val_accuracy"].round(9)
    best = means.sort_values(["val_accuracy", "val_loss", "config"], ascending=[False, True, True])
    if rule == "customary":
        chosen = fair[fair["config"] == best["config"].iloc[0]]
    else:
        chosen = fair.merge(best.drop_duplicates("fold")[["fold", "config"]])
    accuracy = chosen.pivot(index="fold", columns="seed", values="test_accuracy")
    return Selected(accuracy, tuple(sorted(set(chosen["config"]))))


def _comparable(cell: pd.DataFrame, folds: int) -> pd.DataFrame:
    """Return the largest part of the rows in which all configurations have the same seeds."""
    counts = cell.groupby(["config", "seed"])["fold"].nunique()
    complete = counts[counts == folds].reset_index()[["config", "seed"]]
    if complete.empty:
        return cell.iloc[:0]
    seeds_of = {config: frozenset(seeds) for config, seeds in complete.groupby("config")["seed"]}
    single = set(seeds_of.values())
    choices = new = set(single)
    while len(choices) < MAX_SEED_SETS and (new := {a & b for a in new for b in single} - choices):
        choices |= new

    def size(choice: frozenset[int]) -> tuple[int, int, list[int]]:
        configs = sum(choice <= seeds for seeds in seeds_of.values())
        return configs * len(choice), configs, sorted(choice)

    largest = max(choices, key=size)
    fair = [config for config, seeds in seeds_of.items() if largest <= seeds]
    return cell[cell["config"].isin(fair) & cell["seed"].isin(largest)]


@dataclass(frozen=True)
class Comparison:
    """A paired test: mean difference and its standard error in percent, two-sided p-value."""

    difference: float
    error: float
    pairs: int
    p: float
    test: str


def compare(first: Selected, second: Selected, parts: int | None = None) -> Comparison | None:
    """Test the difference of two systems over their common folds and seeds.

    Differences are averaged over the seeds of a fold. Training sets of different folds overlap, so
    a plain t-test over folds is too optimistic: the variance is corrected after Nadeau and Bengio
    (2003) by the ratio of test to training data. A fixed split is one fold, with a paired t-test
    over seeds.

    Args:
        first: selection of one system.
        second: selection of the other.
        parts: number of parts of the cross-validation, which gives the ratio; by default the folds
            of the first system.

    Returns:
        The test, or None with fewer than two pairs.
    """
    folds = first.accuracy.index.intersection(second.accuracy.index)
    seeds = first.accuracy.columns.intersection(second.accuracy.columns)
    table = 100 * (first.accuracy.loc[folds, seeds] - second.accuracy.loc[folds, seeds])
    single = len(folds) == 1
    differences = (table.iloc[0] if single else table.mean(axis=1)).to_numpy()
    if len(seeds) == 0 or len(differences) < 2:
        return None
    # One fold tests, one validates, the others train.
    ratio = 0.0 if single else 1 / max((parts or first.folds) - 2, 1)
    name = "paired t-test over seeds" if single else "corrected resampled t-test over folds"
    error, p = corrected_t_test(differences, ratio)
    return Comparison(float(differences.mean()), error, len(differences), p, name)


def corrected_t_test(differences: NDArray[np.float64], ratio: float) -> tuple[float, float]:
    """Return the standard error of a mean, and the two-sided p-value of zero.

    The variance of the mean is (1/n + ratio) s^2; with ratio 0 it is the plain t-test.
    """
    error = float(np.sqrt(differences.var(ddof=1) * (1 / len(differences) + ratio)))
    mean = float(differences.mean())
    if error == 0:
        return error, 1.0 if mean == 0 else 0.0
    return error, float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down method."""
    ascending = pd.Series(p_values, dtype=float).sort_values(kind="stable")
    steps = (ascending * np.arange(len(ascending), 0, -1)).cummax().clip(upper=1)
    return [float(p) for p in steps.sort_index()]
