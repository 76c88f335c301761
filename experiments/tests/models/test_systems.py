from __future__ import annotations

import pytest

from sepool_experiments.models.node_systems import NODE_SYSTEMS
from sepool_experiments.models.systems import SYSTEMS, register
from sepool_experiments.protocols.units import Config


def test_names_are_unique():
    for systems, task in ((SYSTEMS, "graphs"), (NODE_SYSTEMS, "nodes")):
        assert all((name, task) == (system.name, system.task) for name, system in systems.items())
    with pytest.raises(ValueError, match="there is a system 'SEP-G' already"):
        register(SYSTEMS["SEP-G"])


@pytest.mark.parametrize(
    "system", [*SYSTEMS.values(), *NODE_SYSTEMS.values()], ids=lambda s: f"{s.name} of {s.task}"
)
def test_builds(system):
    assert sum(p.numel() for p in system.build(7, 2, Config(), None).parameters()) > 0
    if system.lockstep:
        alone = sum(p.numel() for p in system.build(7, 2, Config(), None).parameters())
        three = sum(p.numel() for p in system.build(7, 2, Config(), 3).parameters())
        assert three == 3 * alone


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: system.name)
def test_a_model_can_be_made_without_drawing(system):
    import torch

    before = torch.get_rng_state()
    with torch.device("meta"):
        system.build(5, 2, Config(hidden=8), 3)
    assert torch.equal(torch.get_rng_state(), before)
