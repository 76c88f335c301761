"""Whole models with all kernels against the same models without."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.batches import store as stores
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.kernels.registry import disabled, interpreted
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.layers.feature_table import FeatureTable
from sepool_experiments.models.graphs.sep_g import SEPG
from sepool_experiments.models.systems import SYSTEMS
from sepool_experiments.protocols.units import Config
from small_graphs import forest, graph_set

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GRAPHS = graph_set(12)
TREES = forest(GRAPHS)
BASELINES = [name for name, it in SYSTEMS.items() if it.task == "graphs" and not it.uses_tree]


@pytest.fixture
def store_of(monkeypatch):
    """Make stores with a feature table and merged duplicates, as on a GPU."""
    monkeypatch.setattr(stores, "MIN_DUPLICATES", 0.0)

    def make(*args):
        store = GraphStore(GRAPHS, TREES, *args, device=DEVICE, row_indexed=True)
        if not isinstance(store.x, FeatureTable):
            store.sort_features()
        return store

    return make


def outputs(model, batch):
    model.zero_grad()
    out = batch.by_replica(model(batch))
    (out.square().sum(-1) * batch.graph_mask).sum().backward()
    grads = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    return [out.detach()[batch.graph_mask], *map(torch.clone, model.buffers()), *grads]


def assert_kernels_change_nothing(model, store, ids=((0, 3, 5), (7, 2, 12))):
    """Compare outputs, running statistics and gradients; id 12 is padding."""
    ids = torch.tensor(ids, device=DEVICE)
    with disabled():
        batch = store.batch(ids, store.capacity(ids, spare=0.2))
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith("bias"):  # which start as 0
                values.add_(torch.randn_like(values) / 4)
    state = {name: values.clone() for name, values in model.state_dict().items()}
    with disabled():
        expected = outputs(model, batch)
    model.load_state_dict(state)
    torch.use_deterministic_algorithms(True, warn_only=True)  # uninitialised memory is NaN
    try:
        with interpreted():
            actual = outputs(model, batch)
    finally:
        torch.use_deterministic_algorithms(False)
    for mine, reference in zip(actual, expected, strict=True):
        atol = 1e-4 * max(1.0, reference.abs().max().item())
        torch.testing.assert_close(mine, reference, rtol=1e-4, atol=atol)


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("conv", CONVS)
def test_kernels_change_no_sep_g(conv, norm, store_of):
    torch.manual_seed(0)
    store = store_of(CONVS[conv])
    assert store.multiplicity is not None
    model = SEPG(store.num_features, 8, 2, conv=conv, norm=norm, replicas=2).to(DEVICE)
    assert_kernels_change_nothing(model, store)


def test_kernels_change_no_evaluation(store_of):
    torch.manual_seed(0)
    store = store_of(CONVS["GIN"])
    model = SEPG(store.num_features, 8, 2, conv="GIN", norm=True, replicas=2).to(DEVICE).eval()
    for buffer in model.buffers():
        buffer.uniform_(0.5, 2.0)
    assert_kernels_change_nothing(model, store)


@pytest.mark.parametrize("name", BASELINES)
def test_kernels_change_no_baseline(name, store_of):
    torch.manual_seed(0)
    system = SYSTEMS[name]
    store = store_of(CONVS[system.conv], (0, 0, 0))
    model = system.build(store.num_features, 2, Config(hidden=8), 2).to(DEVICE)
    assert_kernels_change_nothing(model, store)
