from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sepool_experiments.report.stats import (
    Selected,
    compare,
    holm,
    select,
)


def rows(*values):
    """Rows from tuples of configuration, fold, seed, validation accuracy, test accuracy, loss."""
    names = ["config", "fold", "seed", "val_accuracy", "test_accuracy", "val_loss"]
    return pd.DataFrame([(*value, 1.0)[:6] for value in values], columns=names)


def selected(table, configs=("a",)):
    """From a fold x seed table."""
    return Selected(pd.DataFrame(table), configs)


class TestSelect:
    @pytest.mark.parametrize(
        ("rule", "configs", "accuracy"),
        [("customary", ("b",), [[0.3], [0.6]]), ("strict", ("a", "b"), [[0.1], [0.6]])],
    )
    def test_select_takes_one_config_or_one_a_fold(self, rule, configs, accuracy):
        cell = rows(
            ("a", 0, 0, 0.9, 0.10),
            ("a", 1, 0, 0.5, 0.20),
            ("b", 0, 0, 0.8, 0.30),
            ("b", 1, 0, 0.7, 0.60),
        )
        chosen = select(cell, rule)
        assert chosen.configs == configs
        assert chosen.accuracy.to_numpy().tolist() == accuracy
        assert chosen.mean == pytest.approx(100 * np.mean(accuracy))

    @pytest.mark.parametrize("rule", ["customary", "strict"])
    def test_select_compares_means_over_seeds(self, rule):
        cell = rows(
            ("a", 0, 0, 0.9, 0.1),
            ("a", 0, 1, 0.5, 0.2),
            ("b", 0, 0, 0.8, 0.3),
            ("b", 0, 1, 0.7, 0.5),
        )
        chosen = select(cell, rule)
        assert chosen.configs == ("b",)
        assert chosen.mean == pytest.approx(40)
        assert chosen.spread == pytest.approx(100 * np.std([0.3, 0.5], ddof=1))

    @pytest.mark.parametrize("rule", ["customary", "strict"])
    def test_select_tie_takes_lower_loss(self, rule):
        cell = rows(("a", 0, 0, 0.9, 0.1, 2.0), ("b", 0, 0, 0.9, 0.2, 1.0))
        assert select(cell, rule).configs == ("b",)

    def test_select_ignores_rounding_errors(self):
        cell = rows(
            ("a", 0, 0, 0.1 + 0.2, 0.1, 2.0),
            ("b", 0, 0, 0.3, 0.2, 1.0),
        )
        assert select(cell, "customary").configs == ("b",)

    @pytest.mark.parametrize("rule", ["customary", "strict"])
    def test_select_ignores_test_accuracy(self, rule):
        cell = rows(
            ("a", 0, 0, 0.9, 0.1), ("a", 1, 0, 0.9, 0.1), ("b", 0, 0, 0.8, 1), ("b", 1, 0, 0.8, 1)
        )
        other = cell.assign(test_accuracy=1 - cell["test_accuracy"])
        assert select(cell, rule).configs == select(other, rule).configs == ("a",)

    def test_select_ignores_order_of_rows(self):
        rng = np.random.default_rng(0)
        cell = rows(*((c, f, s, *rng.random(2)) for c in "abc" for f in range(4) for s in range(3)))
        for rule in ("customary", "strict"):
            mixed, chosen = select(cell.sample(frac=1, random_state=1), rule), select(cell, rule)
            assert mixed.mean == pytest.approx(chosen.mean, rel=1e-15)
            assert mixed.configs == chosen.configs


class TestUnfinished:
    def test_select_incomplete_seed_is_ignored(self):
        cell = rows(("a", 0, 0, 0.9, 0.6), ("a", 1, 0, 0.9, 0.8), ("a", 0, 1, 0.9, 0.1))
        chosen = select(cell, "customary")
        assert (chosen.seeds, chosen.folds, chosen.mean) == (1, 2, pytest.approx(70))

    def test_select_missing_fold_is_none(self):
        cell = rows(("a", 0, 0, 0.9, 0.6), ("a", 1, 0, 0.9, 0.8))
        assert select(cell, "customary", folds=2).seeds == 1
        assert select(cell, "customary", folds=3) is None

    def test_select_uses_common_seeds(self):
        """An interrupted run has one more seed of the first configurations."""
        full = [
            (c, f, s, 0.5 + (c == "b") / 10, 0.5) for c in "abc" for f in (0, 1) for s in (0, 1)
        ]
        more = [("a", 0, 2, 0.99, 0.5), ("a", 1, 2, 0.99, 0.5)]
        chosen = select(rows(*full, *more), "customary")
        assert chosen.configs == ("b",)
        assert chosen.seeds == 2

    def test_select_different_seeds_uses_intersection(self):
        seeds = {"a": (0, 1, 2, 3), "b": (0, 1, 2, 4), "c": (5,)}
        accuracy = {"a": 0.9, "b": 0.8, "c": 0.95}
        cell = rows(
            *(
                (config, fold, seed, accuracy[config], 0.5)
                for config, some in seeds.items()
                for seed in some
                for fold in (0, 1)
            )
        )
        test = select(cell, "customary")
        assert (test.configs, list(test.accuracy.columns)) == (("a",), [0, 1, 2])

    def test_select_stray_config_keeps_seeds(self):
        full = [(c, f, s, 0.5, 0.5) for c in "abc" for f in (0, 1) for s in range(5)]
        stray = [("z", 0, 0, 0.99, 0.5), ("z", 1, 0, 0.99, 0.5)]
        assert select(rows(*full, *stray), "strict").seeds == 5

    def test_select_without_complete_seed_is_none(self):
        assert select(rows(), "customary") is None
        assert select(rows(("a", 0, 0, 0.9, 0.6), ("a", 1, 1, 0.9, 0.8)), "strict") is None

    def test_spread_of_one_seed_is_nan(self):
        assert np.isnan(select(rows(("a", 0, 0, 0.9, 0.6)), "strict").spread)


class TestInterval:
    def test_interval_equals_scipy(self):
        table = np.random.default_rng(0).random((10, 5))
        low, high = selected(table).interval()
        means = 100 * table.mean(axis=0)
        expected = stats.ttest_1samp(means, 0).confidence_interval(0.95)
        assert (low, high) == pytest.approx((expected.low, expected.high))

    @pytest.mark.parametrize("table", [[[0.5]], [[0.5, 0.5]]])
    def test_interval_without_spread_is_mean(self, table):
        assert selected(table).interval() == (50, 50)


class TestCompare:
    @pytest.mark.parametrize("folds", [10, 3])
    def test_compare_folds_corrects_variance(self, folds):
        """Eight tenths of the data train, whatever the number of folds."""
        rng = np.random.default_rng(0)
        first, second = rng.random((folds, 4)), rng.random((folds, 4))
        test = compare(selected(first), selected(second), 10)
        differences = 100 * (first - second).mean(axis=1)
        plain = stats.ttest_1samp(differences, 0)
        ratio = (1 / folds + 1 / 8) * folds
        assert test.difference == pytest.approx(differences.mean())
        assert test.pairs == folds
        assert test.error == pytest.approx(stats.sem(differences) * ratio**0.5)
        p = 2 * stats.t.sf(abs(plain.statistic) / ratio**0.5, folds - 1)
        assert test.p == pytest.approx(p)
        assert test.test == "corrected resampled t-test over folds"

    def test_compare_default_parts_are_folds(self):
        rng = np.random.default_rng(0)
        first, second = selected(rng.random((5, 2))), selected(rng.random((5, 2)))
        assert compare(first, second) == compare(first, second, 5) != compare(first, second, 10)

    def test_compare_uses_common_folds_and_seeds(self):
        first = pd.DataFrame([[0.5, 0.6], [0.7, 0.8]], index=[0, 1], columns=[0, 1])
        second = pd.DataFrame([[0.1], [0.1], [0.1]], index=[0, 1, 2], columns=[1])
        test = compare(Selected(first, ()), Selected(second, ()), 10)
        assert test.difference == pytest.approx(60)
        assert test.pairs == 2

    def test_compare_fixed_split_is_paired_over_seeds(self):
        rng = np.random.default_rng(0)
        first, second = rng.random((1, 10)), rng.random((1, 10))
        test = compare(selected(first), selected(second), 1)
        assert test.p == pytest.approx(stats.ttest_rel(first[0], second[0]).pvalue)
        assert test.test == "paired t-test over seeds"

    def test_compare_one_pair_is_none(self):
        assert compare(selected([[0.5]]), selected([[0.6]]), 10) is None
        away = Selected(pd.DataFrame([[0.5], [0.6]], columns=[7]), ())
        assert compare(selected([[0.5], [0.6]]), away, 10) is None

    def test_compare_equal_systems_has_p_one(self):
        same = selected([[0.5, 0.6], [0.7, 0.8]])
        assert compare(same, same, 2).p == 1
        assert compare(selected([[0.5], [0.7]]), selected([[0.4], [0.6]]), 2).p < 1e-9


def test_holm_equals_hand_computation():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.8, 0.6]) == [1, 1]
    assert holm([]) == []
