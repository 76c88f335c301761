from __future__ import annotations

import pytest

from sepool_experiments.protocols.figures import FIGURE3, FIGURE4, FIGURES, MSE_ALONE


def test_figure3_units_cover_systems():
    units = FIGURE3.units()
    assert len({unit.key for unit in units}) == len(units) == 2 * 5 * (3 + 2 * 2 + 3)
    assert {unit.tree for unit in units if unit.system == "SEP"} == {"best", "paper", "random"}
    alone = {unit.system for unit in units if MSE_ALONE in unit.config.extra}
    assert alone == {"DiffPool", "MinCutPool"}
    first = FIGURE3.units(["ring"], ["DiffPool"])[0]
    assert (first.config.hidden, first.config.lr, first.config.extra) == (32, 5e-3, ())
    assert (FIGURE3.epochs, FIGURE3.patience) == (10_000, 1_000)


def test_figure4_untrained_systems_have_one_unit():
    units = FIGURE4.units()
    assert sum(unit.system == "DiffPool" for unit in units) == 10
    assert sum(unit.system == "SEP" for unit in units) == 3 * 3
    assert sum(unit.system == "one cluster" for unit in units) == 1


def test_quick_figures_have_own_names():
    assert set(FIGURES) == {"figure3", "figure4", "figure3-quick", "figure4-quick"}
    assert FIGURES["figure3-quick"].digest != FIGURE3.digest


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ((["torus"], None, None), "unknown graph 'torus'"),
        ((None, ["SEP-G"], None), "unknown system 'SEP-G'; did you mean SEP"),
        ((None, None, ["bset"]), "unknown tree 'bset'; did you mean best"),
    ],
)
def test_check_unknown_name_raises(choice, message):
    with pytest.raises(ValueError, match=message):
        FIGURE3.check(*choice)
