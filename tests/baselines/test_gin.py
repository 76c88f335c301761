"""GIN: sums that tell multisets apart, and padding that does not count."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")

from sepool.baselines.gin import GIN  # noqa: E402

from .toys import batch_of, build, random_set, store_of  # noqa: E402


def test_sums_tell_multisets_apart_that_means_cannot():
    store = store_of(random_set(), "GIN")
    model = build("GIN", store).eval()
    assert isinstance(model, GIN)
    assert model.readout == "sum"
    twice = batch_of(store, [[3, 3]])
    assert torch.equal(*model.embed(twice)[:2])


def test_padding_changes_no_running_mean():
    store = store_of(random_set(), "GIN")
    ids = torch.tensor([[2, 3, 4]])
    means = []
    for spare in (0.0, 0.5):
        model = build("GIN", store)
        model.forward_prepared(store.batch(ids, store.shape(ids, spare)))
        means.append(torch.cat([buffer.flatten() for buffer in model.buffers()]))
    torch.testing.assert_close(*means)
