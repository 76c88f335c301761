"""Normalisation as PyTorch has it, but for each replica and without padding."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from sepool.baselines import norm as norms  # noqa: E402
from sepool.baselines.norm import NodeNorm  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


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


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(("rows", "width"), [(5, 3), (70, 70), (300, 3)])
def test_kernels_equal_the_definition(relu, rows, width):
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.baselines.norm_kernels")
    replicas, generator = 2, torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, generator=generator).to(DEVICE)

    def column():  # of a wider table, as the weights of a training are
        return draw(replicas, width + 5)[:, 2 : width + 2]

    x, above = 3 * draw(replicas * rows, width) + 10, draw(replicas * rows, width)
    real = (draw(replicas * rows) < 0.5) & (torch.arange(replicas * rows, device=DEVICE) > rows)
    weight, bias, mean, var = column(), column(), column(), column().abs_()
    inputs = [tensor.detach().double().requires_grad_() for tensor in (x, weight, bias)]
    norm = NodeNorm(width, replicas, relu).to(DEVICE).double()
    norm.mean.copy_(mean), norm.var.copy_(var)
    values = {"weight": inputs[1], "bias": inputs[2]}
    expected = torch.func.functional_call(norm, values, (inputs[0], real))
    grads = torch.autograd.grad(expected, inputs, above.double())
    state = x, real, weight, bias, mean, var
    out, known = kernels.normalise(*state, norms.EPSILON, norms.MOMENTUM, relu)
    found = kernels.gradient(x, out, above, real, weight, known, relu)
    pairs = zip((out, mean, var, *found), (expected, norm.mean, norm.var, *grads), strict=True)
    for mine, wanted in pairs:
        torch.testing.assert_close(mine, wanted.float(), atol=2e-4, rtol=1e-4)
