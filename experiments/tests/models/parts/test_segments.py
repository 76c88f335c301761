"""Graphs of different sizes side by side."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.models.parts.segments import Blocks, block_size

PTR = torch.tensor([0, 3, 3, 10, 11])
GRAPH = torch.tensor([0] * 3 + [2] * 7 + [3])


@pytest.mark.parametrize("size", [1, 2, 4, 16])
@pytest.mark.parametrize("heads", [1, 2])
def test_products_of_every_graph(size, heads):
    a, b = torch.randn(11, 4), torch.randn(11, 6)
    products = Blocks(PTR, GRAPH, size).product(a, b, heads)
    for g, (begin, end) in enumerate(PTR.unfold(0, 2, 1).tolist()):
        parts = zip(a[begin:end].chunk(heads, 1), b[begin:end].chunk(heads, 1), strict=True)
        expected = torch.stack([left.t() @ right for left, right in parts])
        torch.testing.assert_close(products[g], expected[0] if heads == 1 else expected)


def test_gradients():
    a, b = (torch.randn(11, w, dtype=torch.float64, requires_grad=True) for w in (2, 3))
    assert torch.autograd.gradcheck(Blocks(PTR, GRAPH, 4).product, (a, b))


def test_blocks_hold_the_average_graph():
    assert [block_size(n) for n in (1, 16, 17, 40, 300)] == [16, 16, 32, 64, 128]
