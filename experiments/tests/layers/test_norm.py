"""Normalisation of replicas against PyTorch's."""

from __future__ import annotations

import torch

from sepool_experiments.layers.norm import BatchNorm, NodeNorm


def test_batch_norm_equals_pytorch():
    ours, theirs = BatchNorm(4), torch.nn.BatchNorm1d(4)
    for _ in range(3):
        x = torch.randn(10, 4) * 3 + 1
        torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_batch_norm_of_replicas_equals_single_layers():
    many, single = BatchNorm(4, replicas=3), [BatchNorm(4) for _ in range(3)]
    for _ in range(2):
        x = torch.randn(10, 3, 4) * torch.tensor([1.0, 10, 100]).view(3, 1)
        found = many(x)
        for r, one in enumerate(single):
            torch.testing.assert_close(found[:, r], one(x[:, r]))
            torch.testing.assert_close(many.mean[r], one.mean)


def test_node_norm_ignores_padding():
    norm, rows = NodeNorm(3, replicas=2), torch.randn(2, 5, 3)
    times = torch.tensor([[1.0] * 4 + [0], [1.0] * 3 + [0] * 2]).flatten()
    for _ in range(2):  # the second time with means from the first
        out = norm(rows.flatten(0, 1), times).view_as(rows)
    norm.eval()
    later = norm(rows.flatten(0, 1), times).view_as(rows)
    for r, count in enumerate((4, 3)):
        theirs = torch.nn.BatchNorm1d(3)
        for _ in range(2):
            expected = theirs(rows[r, :count])
        torch.testing.assert_close(out[r, :count], expected)
        torch.testing.assert_close(norm.mean[r], theirs.running_mean)
        torch.testing.assert_close(norm.var[r], theirs.running_var)
        torch.testing.assert_close(later[r, :count], theirs.eval()(rows[r, :count]))
        assert not out[r, count:].any()
        assert not later[r, count:].any()


def test_node_norm_of_multiplicity_equals_repeated_rows():
    often = torch.tensor([3, 1, 2, 1, 1, 4])
    ours, theirs = NodeNorm(4), torch.nn.BatchNorm1d(4)
    x = torch.randn(6, 4)
    found, expected = ours(x, often.float()), theirs(x.repeat_interleave(often, 0))
    torch.testing.assert_close(found.repeat_interleave(often, 0), expected)
    torch.testing.assert_close(ours.var, theirs.running_var)


def test_repr():
    assert repr(BatchNorm(4)) == "BatchNorm(4)"
    assert repr(BatchNorm(4, replicas=2)) == "BatchNorm(4, replicas=2)"
