from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sepool.nn.norm import BatchNorm  # noqa: E402


def test_batch_norm_equals_torch():
    ours, theirs = BatchNorm(4), torch.nn.BatchNorm1d(4)
    for _ in range(3):
        x = torch.randn(10, 4) * 3 + 1
        torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_every_replica_is_normalised_on_its_own():
    many, single = BatchNorm(4, replicas=3), [BatchNorm(4) for _ in range(3)]
    for _ in range(2):
        x = torch.randn(10, 3, 4) * torch.tensor([1.0, 10, 100]).view(3, 1)
        found = many(x)
        for r, one in enumerate(single):
            torch.testing.assert_close(found[:, r], one(x[:, r]))
            torch.testing.assert_close(many.mean[r], one.mean)
    many.reset_parameters()
    assert torch.equal(many.mean, torch.zeros(3, 4))
    assert torch.equal(many.var, torch.ones(3, 4))


def test_replicas_one_behind_the_other():
    many, single = BatchNorm(4, replicas=3), [BatchNorm(4) for _ in range(3)]
    for _ in range(2):
        x = torch.randn(30, 4) + 1
        expected = torch.cat([one(part) for one, part in zip(single, x.chunk(3), strict=True)])
        torch.testing.assert_close(many(x), expected)
    torch.testing.assert_close(many.var, torch.stack([one.var for one in single]))


def test_padding_counts_for_nothing():
    """Against PyTorch on the rows that are nodes: values, gradients and what is remembered."""
    real, rows = [10, 7, 2], 12
    many, single = BatchNorm(4, replicas=3), [torch.nn.BatchNorm1d(4) for _ in real]
    for _ in range(3):
        x = (torch.randn(3, rows, 4) * 3 + 1).requires_grad_()
        with torch.no_grad():
            for r, count in enumerate(real):
                x[r, count:] = 1e6
        there = [one(x[r, : real[r]]) for r, one in enumerate(single)]
        expected = torch.stack(
            [torch.nn.functional.pad(y, (0, 0, 0, rows - len(y))) for y in there]
        )
        found = many(x.flatten(0, 1), torch.tensor(real)).view_as(x)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
        pull = torch.randn_like(x)
        wanted = torch.autograd.grad((expected * pull).sum(), x)
        torch.testing.assert_close(
            torch.autograd.grad((found * pull).sum(), x), wanted, atol=1e-4, rtol=1e-4
        )
    torch.testing.assert_close(many.mean, torch.stack([one.running_mean for one in single]))
    torch.testing.assert_close(many.var, torch.stack([one.running_var for one in single]))
    many.eval()
    found = many(x.flatten(0, 1), torch.tensor(real)).view_as(x)
    for r, one in enumerate(single):
        torch.testing.assert_close(found[r, : real[r]], one.eval()(x[r, : real[r]]))


def test_repr():
    assert repr(BatchNorm(4)) == "BatchNorm(4)"
    assert repr(BatchNorm(4, replicas=2)) == "BatchNorm(4, replicas=2)"
