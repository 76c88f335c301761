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
