from __future__ import annotations

import pytest

from sepool.extras import MissingPackage, needs


def test_the_package_and_the_extra_are_named():
    with pytest.raises(MissingPackage) as missing, needs("viz"):
        import surely_not.there  # noqa: F401
    assert str(missing.value) == "this needs surely_not: pip install 'sepool[viz]'"


def test_own_mistakes_are_no_missing_package():
    with pytest.raises(ModuleNotFoundError), needs("viz"):
        import sepool.surely_not  # noqa: F401


def test_the_outermost_block_knows_what_is_wanted():
    with (
        pytest.raises(MissingPackage) as missing,
        needs("torch,bench"),
        needs("torch", "sepool.nn"),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    assert str(missing.value).endswith("pip install 'sepool[torch,bench]'")


@pytest.mark.parametrize(("name", "package"), [("tgp", "torch-geometric-pool"), ("igraph",) * 2])
def test_a_package_that_no_extra_brings_is_named(name, package):
    said = f"trees need it: pip install {package}"
    with pytest.raises(MissingPackage) as missing, needs("torch,bench"), needs("torch"):
        raise MissingPackage(said, name=name)
    assert str(missing.value) == said
