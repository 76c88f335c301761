"""GIN: normalisation as PyTorch has it, but for each replica and without padding."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")

from sepool.baselines.gin import GIN, NodeNorm  # noqa: E402

from .toys import batch_of, build, random_set, store_of  # noqa: E402


def test_norm_is_that_of_pytorch_without_padding():
    norm, rows = NodeNorm(3, replicas=2), torch.randn(2, 5, 3)
    real = torch.tensor([[True] * 4 + [False], [True] * 3 + [False] * 2])
    for _ in range(2):  # the second time with means from the first
        out = norm(rows.flatten(0, 1), real.flatten()).view_as(rows)
    norm.eval()
    later = norm(rows.flatten(0, 1), real.flatten()).view_as(rows)
    for r, count in enumerate((4, 3)):
        theirs = torch.nn.BatchNorm1d(3)
        for _ in range(2):
            expected = theirs(rows[r, :count])
        torch.testing.assert_close(out[r, :count], expected)
        torch.testing.assert_close(norm.mean[r], theirs.running_mean)
        torch.testing.assert_close(norm.var[r], theirs.running_var)
        torch.testing.assert_close(later[r], theirs.eval()(rows[r]))


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
