from __future__ import annotations

import pytest

from sepool.extras import MissingPackage, needs


def test_needs_names_the_package_and_the_extra():
    with pytest.raises(MissingPackage) as missing, needs("viz"):
        import surely_not.there  # noqa: F401
    assert str(missing.value) == "this needs surely_not: pip install 'sepool[viz]'"


def test_needs_missing_module_of_sepool_is_raised_unchanged():
    with pytest.raises(ModuleNotFoundError), needs("viz"):
        import sepool.surely_not  # noqa: F401


def test_needs_outermost_block_names_the_extras():
    with (
        pytest.raises(MissingPackage) as missing,
        needs("torch,bench"),
        needs("torch", "sepool.nn"),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    assert str(missing.value).endswith("pip install 'sepool[torch,bench]'")


@pytest.mark.parametrize(("name", "package"), [("tgp", "torch-geometric-pool"), ("igraph",) * 2])
def test_needs_package_outside_the_extras_keeps_its_message(name, package):
    message = f"trees need it: pip install {package}"
    with pytest.raises(MissingPackage) as missing, needs("torch,bench"), needs("torch"):
        raise MissingPackage(message, name=name)
    assert str(missing.value) == message
