"""Attention against its formula, node by node; its kernels against both."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from sepool.nn.adjacency import Adjacency
from sepool.nn.attention import SLOPE, attention

GPU = torch.cuda.is_available()


def graph(nodes=40, seed=0):
    """A random graph with loops, as an adjacency that is its own transpose; one node sees nobody.

    One sees all others: more than a tile has entries.
    """
    generator = torch.Generator().manual_seed(seed)
    near = torch.rand(nodes, nodes, generator=generator) < 0.1
    near[3] = True
    near = near | near.T | torch.eye(nodes, dtype=torch.bool)
    near[7], near[:, 7] = False, False
    row, col = near.nonzero().unbind(1)
    ptr = torch._convert_indices_from_coo_to_csr(row, nodes)
    return Adjacency(ptr, col, None, symmetric=True)


def one_by_one(a, x, scores, extra):
    """The formula, row by row."""
    rows = []
    for i in range(a.num_nodes):
        seen = a.index[a.ptr[i] : a.ptr[i + 1]]
        score = F.leaky_relu(scores[i, 0] + scores[seen, 1], SLOPE)
        score = score if extra is None else score + extra[seen, 0]
        rows.append(score.softmax(0) @ x[seen])
    return torch.stack(rows)


def given(width, extra):
    torch.manual_seed(1)
    x, scores = torch.randn(40, width), 3 * torch.randn(40, 2)
    above = torch.randn(40, width)
    more = torch.randint(1, 5, (40, 1)).float().log() if extra else None
    return x, scores, more, above


@pytest.mark.parametrize("extra", [False, True])
def test_attention_is_its_formula(extra):
    a, (x, scores, more, above) = graph(), given(5, extra)
    leaves = [x.double().requires_grad_(), scores.double().requires_grad_()]
    more = None if more is None else more.double()
    found, expected = (f(a, *leaves, more) for f in (attention, one_by_one))
    torch.testing.assert_close(found, expected)
    both = [torch.autograd.grad(out, leaves, above.double()) for out in (found, expected)]
    torch.testing.assert_close(*both)


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("width", [1, 5, 64, 100])
def test_kernels(width, extra):
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.nn.attention_kernels")
    device = "cuda" if GPU else "cpu"
    a, (x, scores, more, above) = graph(), given(width, extra)
    leaves = [x.requires_grad_(), scores.requires_grad_()]
    expected = one_by_one(a, *leaves, more)
    slopes = torch.autograd.grad(expected, leaves, above)
    more = None if more is None else more.to(device)
    told = *(t.detach().to(device) for t in leaves), more, a.ptr.to(device), a.index.to(device)
    out, norm = kernels.attend(*told, SLOPE)
    torch.testing.assert_close(out.cpu(), expected.detach())
    found = kernels.gradients(*told, SLOPE, norm, above.to(device))
    torch.testing.assert_close([t.cpu() for t in found], list(slopes), rtol=1e-5, atol=1e-5)


def test_scores_far_apart_do_not_overflow():
    """Scores of hundreds, whose exponentials are no numbers."""
    kernels = pytest.importorskip("sepool.nn.attention_kernels", reason="Triton is not installed")
    device = "cuda" if GPU else "cpu"
    a, (x, scores, _, _) = graph(), given(5, False)
    scores = 100 * scores
    told = x.to(device), scores.to(device), None, a.ptr.to(device), a.index.to(device)
    out, _ = kernels.attend(*told, SLOPE)
    torch.testing.assert_close(out.cpu(), one_by_one(a, x, scores, None), rtol=1e-4, atol=1e-5)
