"""The kernels of Set2Set against what they stand for, by Triton's interpreter or on a GPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

from sepool_experiments.models.parts import set2set_attention as looks  # noqa: E402

kernels = pytest.importorskip("sepool_experiments.kernels.set2set")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def draw(*shape):
    return torch.randn(*shape, requires_grad=True)


def there(*tensors):
    return [tensor.detach().to(DEVICE) for tensor in tensors]


def same(found, expected):
    for mine, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(mine.cpu(), wanted.detach(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("rows", "width"), [(3, 5), (40, 32)])
def test_memory(rows, width):
    gates, cell = draw(rows, 4 * width), draw(rows, width)
    expected = looks.remember(gates, cell)
    above = torch.randn(rows, width), torch.randn(rows, width)
    held, out = kernels.remember(*there(gates, cell))
    same((held, out), expected)
    found = kernels.remember_gradient(*there(gates, cell, held, *above))
    same(found, torch.autograd.grad(expected, (gates, cell), above))


@pytest.mark.parametrize("width", [3, 32])
def test_recalling(width):
    ptr = torch.tensor([0, 3, 3, 40, 41])
    graph = torch.repeat_interleave(ptr.diff())
    x, q, above = draw(41, width), draw(4, width), torch.randn(4, width)
    expected = looks.recall(x, q, ptr, graph)
    seen, level = kernels.recall(*there(x, q, ptr))
    same([seen], [expected])
    found = kernels.recall_gradient(*there(x, q, ptr, seen, level, above))
    same(found, torch.autograd.grad(expected, (x, q), above))
