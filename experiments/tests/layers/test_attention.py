"""Attention against its formula, node by node; its kernels against both."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from sepool.nn import attention as attentions
from sepool.nn.adjacency import Adjacency
from sepool.nn.attention import SLOPE, Table, attention, attention_pool

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def by_kernels(monkeypatch):
    """Kernels are taken wherever they can be; says which were."""
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.nn.attention_kernels")
    launched = []
    for name in ("attend", "gradients"):
        monkeypatch.setattr(kernels, name, counted(name, getattr(kernels, name), launched))
    monkeypatch.setattr(attentions, "attention_kernels", kernels)
    monkeypatch.setattr(attentions, "has_kernel", lambda x, times=0: True)
    return launched


def counted(name, function, launched):
    def call(*given):
        launched.append(name)
        return function(*given)

    return call


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
def test_kernels(width, extra, by_kernels):
    a, (x, scores, more, above) = graph(), given(width, extra)
    leaves = [x.requires_grad_(), scores.requires_grad_()]
    expected = one_by_one(a, *leaves, more)
    wanted = [expected.detach(), *torch.autograd.grad(expected, leaves, above)]
    found = differentiated(on_device(a), *there(*leaves, more, above))
    torch.testing.assert_close([t.cpu() for t in found], wanted, rtol=1e-5, atol=1e-5)
    assert by_kernels == ["attend", "gradients"]


@pytest.mark.parametrize("far", [100.0, -500.0], ids=["apart", "low"])
def test_scores_that_no_exponential_can_hold(far, by_kernels):
    """Scores of hundreds: far apart, or all of them far below 0."""
    a, (x, scores, _, above) = graph(), given(5, False)
    scores = far * scores if far > 0 else scores + far
    leaves = [x.double().requires_grad_(), scores.double().requires_grad_()]
    expected = one_by_one(a, *leaves, None)
    slopes = torch.autograd.grad(expected, leaves, above.double())
    out, *found = differentiated(on_device(a), *there(x, scores, None, above))
    torch.testing.assert_close(out.cpu(), expected.detach().float(), rtol=1e-3, atol=1e-4)
    for mine, wanted in zip(found, slopes, strict=True):
        torch.testing.assert_close(mine.cpu(), wanted.float(), rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("looked_up", [False, True])
@pytest.mark.parametrize("width", [5, 64])
def test_kernels_that_sum_to_clusters(width, looked_up, times, by_kernels):
    """Against the formula, ReLU and a sum; nodes can have their numbers in a table."""
    a, (x, scores, more, _) = graph(), given(width, True)
    place = torch.arange(40) % 7
    if looked_up:
        x, scores = x[place], scores[place]
    often = torch.randint(1, 4, (40,)).float() if times else torch.ones(40)
    cluster = torch.arange(40) // 3
    ptr = torch.tensor([*range(0, 40, 3), 40, 40])  # the last cluster has no members
    above = torch.randn(len(ptr) - 1, width)
    leaves = [x.requires_grad_(), scores.requires_grad_()]
    seen = one_by_one(a, *leaves, more).relu() * often[:, None]
    expected = seen.new_zeros(len(ptr) - 1, width).index_add(0, cluster, seen)
    wanted = [expected.detach(), *torch.autograd.grad(expected, leaves, above)]
    table, inner = None, [t.detach().to(DEVICE).requires_grad_() for t in leaves]
    if looked_up:
        lines = (t.detach()[:7].to(DEVICE) for t in leaves)
        table = Table(*lines, place.to(DEVICE, torch.int32))
        inner = [t.new_full((1, 1), torch.nan).expand_as(t).requires_grad_() for t in inner]
    clusters = there(ptr, cluster, often if times else None)
    out = attention_pool(on_device(a), *inner, more.to(DEVICE), *clusters, table)
    found = [out.detach(), *torch.autograd.grad(out, inner, above.to(DEVICE))]
    torch.testing.assert_close([t.cpu() for t in found], wanted, rtol=1e-5, atol=1e-5)
    assert by_kernels == ["attend", "gradients"]


def clusters_of_two():
    return there(torch.arange(0, 41, 2), torch.arange(40) // 2)


@pytest.mark.parametrize("strange", [float("nan"), float("inf")])
def test_what_is_no_number_is_seen(strange, by_kernels):
    a, (x, scores, _, _) = graph(), given(5, False)
    x[3, 1] = strange
    out = attention_pool(on_device(a), *there(x, scores, None), *clusters_of_two())
    seen = one_by_one(a, x, scores, None).relu().view(20, 2, 5).sum(1)
    torch.testing.assert_close(out.cpu(), seen, equal_nan=True)
    assert by_kernels == ["attend"]


def test_zero_lets_nothing_through(by_kernels):
    """As ReLU has it; there are many zeros where layers come before."""
    a, (x, scores, _, _) = graph(), given(5, False)
    x = torch.zeros_like(x, device=DEVICE).requires_grad_()
    out = attention_pool(on_device(a), x, *there(scores, None), *clusters_of_two())
    (slope,) = torch.autograd.grad(out.sum(), x)
    assert not slope.any()
    assert by_kernels == ["attend", "gradients"]


def test_wide_rows_go_without_kernels(by_kernels, monkeypatch):
    a, (x, scores, _, above) = graph(), given(5, False)
    expected = differentiated(on_device(a), *there(x, scores, None, above))
    monkeypatch.setattr(attentions.attention_kernels, "WIDEST", 4)
    found = differentiated(on_device(a), *there(x, scores, None, above))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert by_kernels == ["attend", "gradients"]  # the first time alone


def test_sums_to_clusters_without_kernels():
    a, (x, scores, more, _) = graph(), given(5, True)
    cluster, ptr = torch.arange(40) // 20, torch.tensor([0, 20, 40])
    times = torch.arange(40.0)
    seen = one_by_one(a, x, scores, more).relu() * times[:, None]
    found = attention_pool(a, x, scores, more, ptr, cluster, times)
    torch.testing.assert_close(found, torch.stack([seen[:20].sum(0), seen[20:].sum(0)]))
    with pytest.raises(AssertionError, match="table"):
        attention(a, x, scores, more, Table(x, scores, cluster))


def there(*tensors):
    return [None if t is None else t.detach().to(DEVICE) for t in tensors]


def on_device(a):
    return Adjacency(a.ptr.to(DEVICE), a.index.to(DEVICE), None, a.symmetric)


def differentiated(a, x, scores, extra, above):
    leaves = [x.detach().requires_grad_(), scores.detach().requires_grad_()]
    out = attention(a, *leaves, extra)
    return [out.detach(), *torch.autograd.grad(out, leaves, above)]


def test_tensors_need_not_lie_row_by_row(by_kernels, monkeypatch):
    a, (x, scores, more, above) = graph(), given(64, True)
    a, (x, scores, more, above) = on_device(a), there(x, scores, more, above)
    expected = differentiated(a, x, scores, more, above)
    turned = [t.t().contiguous().t() for t in (x, scores)]
    wide = torch.stack([more, more], 1)[:, 0]
    found = differentiated(a, *turned, wide, above.t().contiguous().t())
    torch.testing.assert_close(found, expected)
    monkeypatch.setattr(attentions, "attention_kernels", None)
    plain = differentiated(a, x, scores, more, above)
    torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-4)


def test_who_is_seen_need_not_see(by_kernels):
    """Kernels are for symmetric adjacencies; any other goes the plain way."""
    ptr, index = torch.tensor([0, 2, 3, 4]), torch.tensor([0, 1, 1, 2])
    a, (x, scores, _, above) = Adjacency(ptr, index), given(5, False)
    x, scores, above = x[:3], scores[:3], above[:3]
    leaves = [x.requires_grad_(), scores.requires_grad_()]
    expected = one_by_one(a, *leaves, None)
    wanted = [expected.detach(), *torch.autograd.grad(expected, leaves, above)]
    torch.testing.assert_close(differentiated(a, x, scores, None, above), wanted)
    assert not by_kernels
