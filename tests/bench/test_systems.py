from __future__ import annotations

import pytest

from sepool.bench.systems import SYSTEMS, register
from sepool.bench.units import Config


def test_names_are_unique():
    assert all(name == system.name for name, system in SYSTEMS.items())
    with pytest.raises(ValueError, match="there is a system 'SEP-G' already"):
        register(SYSTEMS["SEP-G"])


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_builds(name):
    pytest.importorskip("torch_geometric")
    pytest.importorskip("sepool.nn")
    system = SYSTEMS[name]
    assert sum(p.numel() for p in system.build(7, 2, Config(), None).parameters()) > 0
    if system.lockstep:
        alone = sum(p.numel() for p in system.build(7, 2, Config(), None).parameters())
        three = sum(p.numel() for p in system.build(7, 2, Config(), 3).parameters())
        assert three == 3 * alone
