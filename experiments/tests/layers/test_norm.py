"""Normalisation as PyTorch has it, but for each replica, and each row as often as it counts."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sepool.nn import norm as norms  # noqa: E402
from sepool.nn.norm import BatchNorm, NodeNorm  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


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


def test_norm_is_that_of_pytorch_without_padding():
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


def compare(rows, width, relu, use):
    """Normalisation of two replicas by kernels, as ``use`` does it, and by its definition.

    The result, what was seen and the gradients must be the same.
    """
    replicas, generator = 2, torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, generator=generator).to(DEVICE)

    def column():  # of a wider table, as the weights of a training are
        return draw(replicas, width + 5)[:, 2 : width + 2]

    x = 3 * draw(replicas * rows, width) + 4
    times = torch.randint(0, 3, (replicas * rows,), generator=generator).float().to(DEVICE)
    times[:rows] = 0  # of the first replica nothing counts
    weight, bias, mean, var = column(), column(), column(), column().abs_()
    inputs = [tensor.detach().double().requires_grad_() for tensor in (x, weight, bias)]
    norm = NodeNorm(width, replicas, relu).to(DEVICE).double()
    norm.mean.copy_(mean), norm.var.copy_(var)

    def by_definition(seen):
        values = {"weight": inputs[1], "bias": inputs[2]}
        return torch.func.functional_call(norm, values, (seen, times.double()))

    law = (weight, bias, mean, var, norms.EPSILON, norms.MOMENTUM)
    found, expected, above = use(x, times, law, by_definition, inputs[0], draw)
    grads = torch.autograd.grad(expected, inputs, above.double())
    for mine, wanted in zip(
        (*found[:1], mean, var, *found[1:]), (expected, norm.mean, norm.var, *grads), strict=True
    ):
        torch.testing.assert_close(mine, wanted.float(), atol=2e-4, rtol=1e-4)


SIZES = pytest.mark.parametrize(("rows", "width"), [(5, 3), (70, 70), (300, 3), (1500, 3)])


@pytest.mark.parametrize("relu", [False, True])
@SIZES
def test_kernels_equal_the_definition(relu, rows, width):
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.nn.norm_kernels")

    def use(x, times, law, by_definition, leaf, draw):
        expected, above = by_definition(leaf), draw(*x.shape)
        x[times == 0], above[times == 0] = torch.nan, torch.nan  # padding, which nobody reads
        law = kernels.Law(*law)
        out, known = kernels.normalise(x, times, law, relu)
        found = kernels.gradient(x, above, times, *law[:2], known, relu)
        above[times == 0] = 0
        return (out, *found), expected, above

    compare(rows, width, relu, use)


@SIZES
def test_kernels_that_sum_to_clusters(rows, width):
    """Of rows that are a ReLU; clusters of unequal sizes, of which one is empty."""
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.nn.norm_kernels")
    ends = torch.tensor([0, 2, 2, rows - 2, rows])
    ptr = torch.cat([ends[:-1], ends + rows]).to(DEVICE)
    assignment = torch.arange(8, device=DEVICE).repeat_interleave(ptr.diff())

    def use(x, times, law, by_definition, leaf, draw):
        hidden = by_definition(leaf.relu()).relu() * times.double()[:, None]
        expected = hidden.new_zeros(8, width).index_add(0, assignment, hidden)
        above = draw(8, width)
        x = x.relu()
        x[times == 0] = torch.nan
        law = kernels.Law(*law)
        out, known = kernels.normalise_pool(x, times, law, ptr)
        found = kernels.gradient(x, above, times, *law[:2], known, True, assignment, gated=True)
        return (out, *found), expected, above

    compare(rows, width, False, use)


def test_a_row_counts_as_often_as_it_says():
    often = torch.tensor([3, 1, 2, 1, 1, 4])
    ours, theirs = NodeNorm(4), torch.nn.BatchNorm1d(4)
    x = torch.randn(6, 4)
    found, expected = ours(x, often.float()), theirs(x.repeat_interleave(often, 0))
    torch.testing.assert_close(found.repeat_interleave(often, 0), expected)
    torch.testing.assert_close(ours.var, theirs.running_var)


def test_repr():
    assert repr(BatchNorm(4)) == "BatchNorm(4)"
    assert repr(BatchNorm(4, replicas=2)) == "BatchNorm(4, replicas=2)"
