"""Attention against its formula, row by row."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from sepool_experiments.kernels.registry import interpreted, load
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.attention import (
    NEGATIVE_SLOPE,
    attention,
    has_attention_kernel,
)


def adjacency(nodes=40, symmetric=True):
    near = torch.rand(nodes, nodes) < 0.1
    near = near | near.T | torch.eye(nodes, dtype=torch.bool)
    near[7], near[:, 7] = False, False
    row, col = near.nonzero().unbind(1)
    return Adjacency(torch._convert_indices_from_coo_to_csr(row, nodes), col, None, symmetric)


def by_formula(a, x, scores, bias):
    rows = []
    for i in range(a.num_nodes):
        sources = a.index[a.ptr[i] : a.ptr[i + 1]]
        score = F.leaky_relu(scores[i, 0] + scores[sources, 1], NEGATIVE_SLOPE)
        score = score if bias is None else score + bias[sources, 0]
        rows.append(score.softmax(0) @ x[sources])
    return torch.stack(rows)


def inputs(width=5):
    torch.manual_seed(1)
    x, scores = torch.randn(40, width).double(), 3 * torch.randn(40, 2).double()
    return x.requires_grad_(), scores.requires_grad_(), torch.randint(1, 5, (40, 1)).double().log()


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_attention_equals_its_formula(biased, symmetric):
    a, (x, scores, bias) = adjacency(symmetric=symmetric), inputs()
    outs = [f(a, x, scores, bias if biased else None) for f in (attention, by_formula)]
    torch.testing.assert_close(*outs)
    above = torch.randn(40, 5).double()
    torch.testing.assert_close(*(torch.autograd.grad(out, (x, scores), above) for out in outs))


def test_attention_kernel_needs_symmetric_adjacency_and_narrow_rows(monkeypatch):
    pytest.importorskip("triton")
    x = torch.randn(40, 5)
    with interpreted():
        assert has_attention_kernel(adjacency(), x)
        assert not has_attention_kernel(adjacency(symmetric=False), x)
        assert not has_attention_kernel(adjacency(), x.unsqueeze(1))
        monkeypatch.setattr(load("attention"), "MAX_WIDTH", 4)
        assert not has_attention_kernel(adjacency(), x)
