from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from tests.communities import CLASSES, WORDS, community_data  # noqa: E402

from sepool_experiments.layers import SEPN  # noqa: E402
from sepool_experiments.models.nodes import sepn  # noqa: E402
from sepool_experiments.models.nodes.sepn import SparseBatch, SparseSEPN  # noqa: E402

DATA = community_data()


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize(
    "options",
    [{}, {"input_link": True}, {"smooth": 2, "reduce": "sym"}, {"propagate": 3}, {"light": True}],
)
def test_sparse_features_give_the_same(monkeypatch, replicas, options):
    monkeypatch.setattr(sepn, "DENSE", 1.1)
    sparse = SparseSEPN(WORDS, 8, CLASSES, replicas=replicas, **options)
    dense = SEPN(WORDS, 8, CLASSES, replicas=replicas, **options)
    dense.load_state_dict(sparse.state_dict())
    prepared = sparse.prepare(DATA)
    assert isinstance(prepared, SparseBatch)
    found, expected = sparse(prepared), dense(dense.prepare(DATA))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    weight = torch.randn_like(found)
    for model, out in ((sparse, found), (dense, expected)):
        (out * weight).sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
    for one, other in zip(sparse.parameters(), dense.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("replicas", [None, 3])
def test_input_dropout_of_sparse_features(monkeypatch, replicas):
    """Dropping a share of the nonzero features changes the mean over many draws by little."""
    monkeypatch.setattr(sepn, "DENSE", 1.1)
    torch.manual_seed(0)
    model = SparseSEPN(WORDS, 8, CLASSES, input_dropout=0.5, replicas=replicas)
    batch, x = model.prepare(DATA), DATA.x if replicas is None else DATA.x.unsqueeze(1)
    draws = torch.stack([model._begin(x, batch) for _ in range(300)])
    whole = model.eval()._begin(x, batch)
    assert draws[0].shape == whole.shape
    if replicas is not None:
        assert not torch.equal(draws[0, :, 0], draws[0, :, 1])
    assert draws.std(0).mean() > 0
    error = 5 * draws.std(0) / 300**0.5 + 1e-5
    assert ((draws.mean(0) - whole).abs() <= error).float().mean() > 0.999


def test_dense_features_stay_dense():
    assert not isinstance(SparseSEPN(WORDS, 8, CLASSES).prepare(DATA), SparseBatch)


def test_smoothing_follows_unpooling():
    """With one block and no skip, all members of a cluster are equal until they are smoothed."""
    torch.manual_seed(0)
    plain, smooth = (
        SEPN(WORDS, 8, CLASSES, blocks=1, height=3, skip="none", smooth=times) for times in (0, 1)
    )
    smooth.load_state_dict(plain.state_dict())
    seen = {}
    for name, model in (("plain", plain), ("smooth", smooth)):
        model.denses[1].register_forward_pre_hook(
            lambda layer, args, name=name: seen.__setitem__(name, args[0])
        )
        model(model.prepare(DATA))
    import sepool

    cluster = sepool.hierarchy(DATA).assignment(1)
    first = cluster == cluster[0]
    assert seen["plain"][first].std(0).max() < 1e-6
    assert seen["smooth"][first].std(0).max() > 1e-4
    edges = torch.cat([DATA.edge_index, torch.arange(len(cluster)).repeat(2, 1)], 1)
    a = torch.zeros(len(cluster), len(cluster)).index_put_(tuple(edges), torch.tensor(1.0))
    scale = a.sum(1).rsqrt()
    expected = (scale[:, None] * a * scale) @ seen["plain"]
    torch.testing.assert_close(seen["smooth"], expected, atol=1e-5, rtol=1e-4)


def test_sym_pooling_keeps_lengths():
    """Pooled and unpooled at once, a signal that is constant on clusters comes back."""
    import sepool
    from sepool_experiments.layers.ops import rows_like, unpool
    from sepool_experiments.layers.sep_pooling import family, reduce_to

    levels = sepool.hierarchy(DATA)
    x = torch.randn(levels.num_clusters(1), 3)[levels.assignment(1)]
    pooled = reduce_to(x, levels, 1, "sym")
    torch.testing.assert_close(pooled.norm(), x.norm())
    back = unpool(pooled * rows_like(levels.sizes[0].rsqrt(), pooled), *family(levels, 1))
    torch.testing.assert_close(back, x)
