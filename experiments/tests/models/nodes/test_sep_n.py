from __future__ import annotations

import pytest
import torch
from tests.communities import CLASSES, WORDS, community_data

from sepool_experiments.models.nodes import sep_n
from sepool_experiments.models.nodes.sep_n import SEPN, SparseBatch

DATA = community_data()


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize(
    "options",
    [{}, {"input_link": True}, {"smooth": 2, "reduce": "sym"}, {"propagate": 3}, {"light": True}],
)
def test_sparse_features_equal_dense_features(monkeypatch, replicas, options):
    sparse, dense = (SEPN(WORDS, 8, CLASSES, replicas=replicas, **options) for _ in range(2))
    dense.load_state_dict(sparse.state_dict())
    expected = dense(dense.prepare(DATA))
    monkeypatch.setattr(sep_n, "DENSE", 1.1)
    batch = sparse.prepare(DATA)
    assert isinstance(batch, SparseBatch)
    actual = sparse(batch)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-4)
    weight = torch.randn_like(actual)
    for model, out in ((sparse, actual), (dense, expected)):
        (out * weight).sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
    for one, other in zip(sparse.parameters(), dense.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("replicas", [None, 3])
def test_input_dropout_of_sparse_features_is_unbiased(monkeypatch, replicas):
    monkeypatch.setattr(sep_n, "DENSE", 1.1)
    torch.manual_seed(0)
    model = SEPN(WORDS, 8, CLASSES, input_dropout=0.5, replicas=replicas)
    batch, x = model.prepare(DATA), DATA.x if replicas is None else DATA.x.unsqueeze(1)
    draws = torch.stack([model._first_conv(x, batch) for _ in range(300)])
    whole = model.eval()._first_conv(x, batch)
    assert draws[0].shape == whole.shape
    if replicas is not None:
        assert not torch.equal(draws[0, :, 0], draws[0, :, 1])
    assert draws.std(0).mean() > 0
    error = 5 * draws.std(0) / 300**0.5 + 1e-5
    assert ((draws.mean(0) - whole).abs() <= error).float().mean() > 0.999


def test_dense_features_have_no_sparse_batch():
    assert not isinstance(SEPN(WORDS, 8, CLASSES).prepare(DATA), SparseBatch)


def test_smoothing_makes_members_of_a_cluster_differ():
    torch.manual_seed(0)
    plain, smooth = (
        SEPN(WORDS, 8, CLASSES, blocks=1, skip="none", smooth=steps) for steps in (0, 1)
    )
    smooth.load_state_dict(plain.state_dict())
    inputs = {}
    for name, model in (("plain", plain), ("smooth", smooth)):
        model.denses[1].register_forward_pre_hook(
            lambda layer, args, name=name: inputs.__setitem__(name, args[0])
        )
        model(model.prepare(DATA))
    import sepool

    cluster = sepool.hierarchy(DATA).assignment(1)
    first = cluster == cluster[0]
    assert inputs["plain"][first].std(0).max() < 1e-6
    assert inputs["smooth"][first].std(0).max() > 1e-4
    edges = torch.cat([DATA.edge_index, torch.arange(len(cluster)).repeat(2, 1)], 1)
    a = torch.zeros(len(cluster), len(cluster)).index_put_(tuple(edges), torch.tensor(1.0))
    scale = a.sum(1).rsqrt()
    expected = (scale[:, None] * a * scale) @ inputs["plain"]
    torch.testing.assert_close(inputs["smooth"], expected, atol=1e-5, rtol=1e-4)


def test_sym_pooling_and_unpooling_keep_cluster_constants():
    import sepool
    from sepool_experiments.layers.pooling import members, pool
    from sepool_experiments.layers.segments import as_factor, unpool

    levels = sepool.hierarchy(DATA)
    x = torch.randn(levels.num_clusters(1), 3)[levels.assignment(1)]
    pooled = pool(x, levels, 1, "sym")
    torch.testing.assert_close(pooled.norm(), x.norm())
    back = unpool(pooled * as_factor(levels.sizes[0].rsqrt(), pooled), *members(levels, 1))
    torch.testing.assert_close(back, x)
