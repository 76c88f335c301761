"""The Triton kernels against PyTorch: on a GPU, or anywhere by Triton's interpreter."""

from __future__ import annotations

import os

import pytest
import torch

GPU = torch.cuda.is_available()
if not GPU:
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
kernels = pytest.importorskip("sepool.nn.kernels")
DEVICE = "cuda" if GPU else "cpu"
WIDTHS = [1, 5, 32, 64, 100]


def entries(rows=50, count=130, seed=0):
    """Where the entries of every row begin, and a column for each; some rows have none."""
    generator = torch.Generator().manual_seed(seed)
    row = torch.randint(0, rows, (count,), generator=generator).sort().values
    column = torch.randint(0, rows, (count,), generator=generator)
    ptr = torch._convert_indices_from_coo_to_csr(row, rows)
    return row.to(DEVICE), ptr.to(DEVICE), column.to(DEVICE), torch.rand(count).to(DEVICE)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("relu", [False, True])
def test_sums_of_gathered_rows(width, relu):
    row, ptr, column, weight = entries()
    x = torch.randn(50, width, device=DEVICE)
    seen = x.relu() if relu else x
    for weights in (None, weight):
        values = seen[column] if weights is None else seen[column] * weights[:, None]
        expected = torch.zeros_like(x).index_add_(0, row, values)
        torch.testing.assert_close(kernels.sum_rows(x, ptr, column, weights, relu), expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_sums_of_segments(width):
    x = torch.randn(60, width, device=DEVICE)
    ptr = torch.tensor([0, 10, 10, 51], device=DEVICE)  # the last rows belong to nobody
    expected = torch.stack([x[:10].sum(0), torch.zeros_like(x[0]), x[10:51].sum(0)])
    torch.testing.assert_close(kernels.sum_rows(x, ptr), expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_copies_of_rows(width):
    _, _, column, _ = entries()
    x = torch.randn(50, width, device=DEVICE)
    gate = torch.randn(len(column), width, device=DEVICE)
    assert torch.equal(kernels.copy_rows(x, column), x[column])
    assert torch.equal(kernels.copy_rows(x, column, gate), torch.where(gate > 0, x[column], 0.0))
