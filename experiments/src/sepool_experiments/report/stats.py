"""Choosing configurations by validation, accuracies with their spread, and paired tests.

All of it works on the rows of one cell: one system (with one kind of tree) on one dataset, with
every configuration, fold and seed. Test accuracies are never looked at to choose anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs

with needs("bench", "sepool_experiments.report.stats"):
    import pandas as pd
    from scipy import stats

MANY = 2000  # sets of seeds to choose from; with more the largest part may be missed
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
    """The rules that can differ: with one fold they choose the same, so one of them will do.

    >>> rules_of(10), rules_of(1)
    (('customary', 'strict'), ('customary',))
    """
    return tuple(RULES)[: 2 if folds > 1 else 1]


@dataclass(frozen=True)
class Selected:
    """Test accuracies under the chosen configurations.

    Args:
        accuracy: a row a fold, a column a seed; fractions of 1.
        configs: the configurations that were chosen, in words.
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
        """How many seeds there are."""
        return int(self.accuracy.shape[1])

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return int(self.accuracy.shape[0])

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where the mean over seeds is expected, by Student's t; the mean alone for one seed."""
        means = 100 * self.accuracy.mean(axis=0).to_numpy()
        if len(means) < 2 or np.ptp(means) == 0:
            return self.mean, self.mean
        low, high = stats.t.interval(confidence, len(means) - 1, means.mean(), stats.sem(means))
        return float(low), float(high)


def select(cell: pd.DataFrame, rule: str, folds: int | None = None) -> Selected | None:
    """Chooses configurations by validation accuracy, ties by validation loss.

    Only configurations that were trained on the same folds and seeds compete, and only seeds with
    every fold count, so that an unfinished run gives no lopsided figure.

    Args:
        cell: rows with ``config``, ``fold``, ``seed``, ``val_accuracy``, ``val_loss`` and
            ``test_accuracy``.
        rule: "customary" or "strict", see `RULES`.
        folds: how many there are; by default as many as there are rows for.

    Returns:
        What was chosen, or None if no seed has every fold.

    Example:
        >>> cell = pd.DataFrame({
        ...     "config": ["a", "a", "b", "b"], "fold": [0, 1, 0, 1], "seed": 0,
        ...     "val_accuracy": [0.9, 0.6, 0.7, 0.7], "val_loss": 1.0,
        ...     "test_accuracy": [0.8, 0.5, 0.6, 0.7]})
        >>> select(cell, "customary").configs, select(cell, "strict").configs
        (('a',), ('a', 'b'))
        >>> round(select(cell, "strict").mean, 2)
        75.0
    """
    fair = _comparable(cell, folds or cell["fold"].nunique())
    if fair.empty:
        return None
    groups = ["config"] if rule == "customary" else ["fold", "config"]
    means = fair.groupby(groups, sort=True)[["val_accuracy", "val_loss"]].mean().reset_index()
    # Sums in another order differ in the last bits, which must not decide between equals.
    means["val_accuracy"] = means["val_accuracy"].round(9)
    best = means.sort_values(["val_accuracy", "val_loss", "config"], ascending=[False, True, True])
    if rule == "customary":
        chosen = fair[fair["config"] == best["config"].iloc[0]]
    else:
        chosen = fair.merge(best.drop_duplicates("fold")[["fold", "config"]])
    accuracy = chosen.pivot(index="fold", columns="seed", values="test_accuracy")
    return Selected(accuracy, tuple(sorted(set(chosen["config"]))))


def _comparable(cell: pd.DataFrame, folds: int) -> pd.DataFrame:
    """The largest part of the rows in which every configuration has the same complete seeds."""
    counts = cell.groupby(["config", "seed"])["fold"].nunique()
    whole = counts[counts == folds].reset_index()[["config", "seed"]]
    if whole.empty:
        return cell.iloc[:0]
    seeds = {config: frozenset(some) for config, some in whole.groupby("config")["seed"]}
    given = set(seeds.values())
    choices = more = set(given)
    while len(choices) < MANY and (more := {a & b for a in more for b in given} - choices):
        choices |= more

    def size(choice: frozenset[int]) -> tuple[int, int, list[int]]:
        configs = sum(choice <= some for some in seeds.values())
        return configs * len(choice), configs, sorted(choice)

    most = max(choices, key=size)
    fair = [config for config, some in seeds.items() if most <= some]
    return cell[cell["config"].isin(fair) & cell["seed"].isin(most)]


@dataclass(frozen=True)
class Comparison:
    """A paired test of two systems.

    Args:
        difference: mean of the first less mean of the second, in points of percent.
        error: standard error of the difference, as the test sees it.
        pairs: number of differences that the test saw.
        p: two-sided p-value.
        test: which test.
    """

    difference: float
    error: float
    pairs: int
    p: float
    test: str


def compare(first: Selected, second: Selected, parts: int | None = None) -> Comparison | None:
    """Tests whether two systems differ, over the folds and seeds that both have.

    Differences are averaged over seeds inside a fold. Training sets of different folds overlap, so
    a plain t-test over folds finds too much: the variance is corrected after Nadeau and Bengio
    (2003) by the ratio of test to training data. With a fixed split there is one fold, and a plain
    paired t-test over seeds.

    Args:
        first: what was chosen for one system.
        second: for the other.
        parts: folds that the data was cut into, from which the ratio follows; by default those of
            the first system.

    Returns:
        The test, or None with fewer than two pairs.
    """
    folds = first.accuracy.index.intersection(second.accuracy.index)
    seeds = first.accuracy.columns.intersection(second.accuracy.columns)
    both = (some.accuracy.loc[folds, seeds] for some in (first, second))
    table = 100 * (next(both) - next(both))
    single = len(folds) == 1
    differences = (table.iloc[0] if single else table.mean(axis=1)).to_numpy()
    if len(seeds) == 0 or len(differences) < 2:
        return None
    # One fold tests, one validates, the others train.
    ratio = 0.0 if single else 1 / max((parts or first.folds) - 2, 1)
    name = "paired t-test over seeds" if single else "corrected resampled t-test over folds"
    error = corrected_error(differences, ratio)
    p = corrected_t_test(differences, ratio)
    return Comparison(float(differences.mean()), error, len(differences), p, name)


def corrected_error(differences: NDArray[np.float64], ratio: float) -> float:
    """Standard error of a mean, from a variance of (1/n + ratio) s^2; see `corrected_t_test`."""
    return float(np.sqrt(differences.var(ddof=1) * (1 / len(differences) + ratio)))


def corrected_t_test(differences: NDArray[np.float64], ratio: float) -> float:
    """Two-sided p-value of a mean of zero, with a variance of (1/n + ratio) s^2.

    Args:
        differences: one a fold.
        ratio: size of the test data over size of the training data; 0 is the plain t-test.

    Example:
        >>> differences = np.array([1.0, 2.0, 0.5, 1.5])
        >>> plain = float(stats.ttest_1samp(differences, 0.0).pvalue)
        >>> bool(np.isclose(corrected_t_test(differences, 0.0), plain))
        True
        >>> corrected_t_test(differences, 0.5) > plain
        True
    """
    mean, error = float(differences.mean()), corrected_error(differences, ratio)
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values that are corrected for their number, by Holm's step-down method.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    steps = np.maximum.accumulate(factors * np.asarray(p_values, float)[order])
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(steps, 1)
    return [float(p) for p in corrected]


def paired_means(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Test accuracies in percent, a column for every value of ``by``, a row for every common unit.

    Args:
        rows: of one system on one dataset.
        by: the column to compare, such as "tree".
    """
    units = ["config", "fold", "seed"]
    return 100 * rows.pivot(index=units, columns=by, values="test_accuracy").dropna()
