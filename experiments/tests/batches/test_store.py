"""A batch of replicas against the same graphs in PyG, replica by replica."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Batch

from sepool_experiments.batches import store as stores
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.engine.lockstep import losses
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.layers.feature_table import FeatureTable
from sepool_experiments.layers.segments import rows_at
from sepool_experiments.models.graphs.sep_g import SEPG
from small_graphs import forest, graph_set, outputs_and_gradients, pyg_graphs, replica_batch

GRAPHS = graph_set()
TREES = forest(GRAPHS)
REPLICAS, SIZE = 3, 7
MODELS = [
    {},
    {"pooled": "binary", "blocks": 2, "input_link": True},
    {"readout": "mean", "reduce": "mean"},
    {"reduce": "max"},
    {"norm": True},
]


def store_for(conv, options, device="cpu", row_indexed=False):
    return GraphStore(
        GRAPHS,
        TREES,
        CONVS[conv],
        (0, 1, 2),
        options.get("pooled") == "binary",
        options.get("input_link", False),
        device,
        row_indexed,
    )


def some_ids(missing=True):
    generator = torch.Generator().manual_seed(1)
    count = len(GRAPHS.y)
    ids = torch.stack([torch.randperm(count, generator=generator)[:SIZE] for _ in range(REPLICAS)])
    if missing:
        ids[1, 5] = count  # no graph
    return ids


@pytest.fixture
def float64_next():
    """From when it is called, what is made is float64: of two roundings, which one is right?"""
    usual = torch.get_default_dtype()
    yield lambda: torch.set_default_dtype(torch.float64)
    torch.set_default_dtype(usual)


@pytest.mark.parametrize("options", MODELS, ids=str)
@pytest.mark.parametrize("conv", CONVS)
def test_replica_equals_training_alone(conv, options, float64_next):
    torch.manual_seed(0)
    store, ids = store_for(conv, options), some_ids()
    batch = store.batch(ids, store.capacity(ids, spare=0.1))
    model = SEPG(store.num_features, 16, 2, conv=conv, replicas=REPLICAS, **options)
    logits = batch.by_replica(model(batch))
    loss = losses(logits, batch.y, batch.graph_mask).sum(1) / batch.graph_mask.sum(1)
    loss.sum().backward()
    data = pyg_graphs(GRAPHS, TREES)
    float64_next()
    for r in range(REPLICAS):
        alone = SEPG(store.num_features, 16, 2, conv=conv, **options)
        for mine, theirs in zip(alone.parameters(), model.parameters(), strict=True):
            mine.data.copy_(theirs.data[r])
        graphs = Batch.from_data_list([data[i] for i in ids[r].tolist() if i < len(data)])
        graphs.x = graphs.x.double()
        expected = F.cross_entropy(alone(replica_batch(alone, graphs)), graphs.y)
        expected.backward()
        assert loss[r].item() == pytest.approx(expected.item(), rel=1e-5, abs=1e-5)
        for mine, theirs in zip(alone.parameters(), model.parameters(), strict=True):
            scale = max(1.0, mine.grad.abs().max().item())
            found, exact = theirs.grad[r].double() / scale, mine.grad / scale
            # Normalisation divides by the spread of few nodes: it amplifies rounding.
            near = 1e-4 if options.get("norm") else 1e-5
            torch.testing.assert_close(found, exact, atol=near, rtol=0)


@pytest.mark.parametrize("options", [m for m in MODELS if "reduce" not in m], ids=str)
@pytest.mark.parametrize("conv", CONVS)
def test_rows_taken_by_the_model(conv, options):
    ids, outs = some_ids(), []
    features = store_for(conv, options).num_features
    model = SEPG(features, 16, 2, conv=conv, replicas=REPLICAS, **options)
    for row_indexed in (False, True):
        store = store_for(conv, options, row_indexed=row_indexed)
        outs.append(outputs_and_gradients(model, store, ids))
    for a, b in zip(*outs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5 * max(1.0, a.abs().max().item()))


def test_padding_is_made_of_graphs():
    store, ids = store_for("GCN", {}), some_ids()
    shape = store.capacity(ids, spare=0.3)
    levels = store.batch(ids, shape).levels
    for level in range(1, 4):
        assert int(levels.sizes[level - 1].sum()) == REPLICAS * shape.nodes[level - 1]
        assert len(levels.sizes[level - 1]) == REPLICAS * shape.nodes[level]
        assert int(levels.sizes[level - 1].min()) >= 0


def test_padding_is_dealt_out_evenly():
    store, ids = store_for("GCN", {}), some_ids(missing=False)
    shape = store.capacity(ids, spare=2.0)
    sizes = store.batch(ids, shape).levels.sizes[0].view(REPLICAS, -1)
    real = store.levels[1].counts[ids].sum(1)
    for r in range(REPLICAS):
        padding = sizes[r, real[r] :]
        assert int(padding.max()) - int(padding.min()) <= 1


@pytest.mark.parametrize("missing", [False, True])
def test_more_room_changes_no_output_or_gradient(missing):
    store, ids, found = store_for("GCN", {}), some_ids(missing), []
    model = SEPG(store.num_features, 16, 2, replicas=REPLICAS)
    for spare in (0.0, 0.5):
        model.zero_grad()
        batch = store.batch(ids, store.capacity(ids, spare=spare))
        logits = batch.by_replica(model(batch))
        assert logits.shape == (REPLICAS, ids.size(1), 2)
        logits.square().sum().backward()
        found.append([logits.detach(), *(p.grad.clone() for p in model.parameters())])
    for little, much in zip(*found, strict=True):
        torch.testing.assert_close(
            much, little, rtol=1e-5, atol=1e-5 * max(1.0, little.abs().max())
        )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("row_indexed", [False, True])
@pytest.mark.parametrize("conv", CONVS)
def test_gpu_equals_cpu(conv, row_indexed, monkeypatch):
    monkeypatch.setattr(stores, "MIN_DUPLICATES", 0.0)
    ids = some_ids()
    model = SEPG(store_for(conv, {}).num_features, 16, 2, conv=conv, replicas=REPLICAS)
    outs = []
    for device in ("cpu", "cuda"):
        store = store_for(conv, {}, device, row_indexed)
        batch = store.batch(ids.to(device), store.capacity(ids.to(device)))
        outs.append(batch.by_replica(model.to(device)(batch)).detach().cpu())
    torch.testing.assert_close(*outs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("row_indexed", [False, True])
@pytest.mark.parametrize("conv", CONVS)
def test_a_store_draws_nothing(conv, row_indexed):
    """Another thread may be drawing first weights of its own from PyTorch's one source."""
    before = torch.get_rng_state()
    store_for(conv, {}, row_indexed=row_indexed)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("conv", CONVS)
def test_sorted_features_are_the_same_features(conv):
    store, ids = store_for(conv, {}, row_indexed=True), some_ids()
    plain = store.batch(ids, store.capacity(ids))
    store.sort_features()
    table = store.batch(ids, store.capacity(ids))
    assert isinstance(table.x, FeatureTable)
    torch.testing.assert_close(rows_at(table.x, table.row_index), rows_at(plain.x, plain.row_index))
    home = torch.repeat_interleave(store.levels[0].counts[:-1])
    have = torch.stack([(plain.x[:-1][home == i] != 0).any(0) for i in range(store.num_graphs)])
    assert bool((have.sum(0)[table.x.feature_of_column].diff() <= 0).all())


@pytest.mark.parametrize("conv", ["GCN", "GIN"])
def test_normalisation_keeps_the_precision_of_a_model(conv):
    store = store_for(conv, {})
    ids = some_ids()
    batch = store.batch(ids, store.capacity(ids))
    batch.x = batch.x.to(torch.bfloat16)
    model = SEPG(store.num_features, 8, 2, conv=conv, norm=True, replicas=len(ids))
    logits = model.to(torch.bfloat16)(batch)
    assert (logits.dtype, bool(logits.isfinite().all())) == (torch.bfloat16, True)
