"""GIN: sums that tell multisets apart, and padding that does not count."""

from __future__ import annotations

import numpy as np
import torch
from experiments.tests.models.toys import batch_of, build, graph_set, random_set, store_of

from sepool_experiments.models.graphs.gin import GIN


def test_sums_tell_multisets_apart_that_means_cannot():
    """A triangle and two of them."""
    triangle = ~np.eye(3, dtype=bool)
    store = store_of(graph_set([triangle, np.kron(np.eye(2, dtype=bool), triangle)], [0, 1]), "GIN")
    for readout, same in ((None, False), ("mean", True)):
        model = build("GIN", store, readout=readout).eval()
        assert isinstance(model, GIN)
        one, two = model.embed(batch_of(store, [[0, 1]]))[:2]
        assert torch.allclose(one, two, atol=1e-6) == same


def test_padding_changes_no_running_mean():
    store = store_of(random_set(), "GIN")
    ids = torch.tensor([[2, 3, 4]])
    means = []
    for spare in (0.0, 0.5):
        model = build("GIN", store)
        model(store.batch(ids, store.capacity(ids, spare)))
        means.append(torch.cat([buffer.flatten() for buffer in model.buffers()]))
    torch.testing.assert_close(*means)
