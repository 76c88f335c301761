"""The Triton kernels against PyTorch: on a GPU, or anywhere by Triton's interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

GPU = torch.cuda.is_available()
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
kernels = pytest.importorskip("sepool.nn.kernels")
layer_kernels = pytest.importorskip("sepool.nn.layer_kernels")
from sepool.nn.dropout import SALT, Dropout  # noqa: E402
from sepool.nn.feature_table import FeatureTable  # noqa: E402

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
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("rows", [30, 300])
def test_sums_of_segments(width, relu, rows):
    """Of short segments many at a time, of long ones each by itself."""
    x = torch.randn(rows, width, device=DEVICE)
    ends = [0, 10, 10, rows - 9]  # the last rows belong to nobody
    seen = x.relu() if relu else x
    expected = torch.stack([seen[a:b].sum(0) for a, b in pairwise(ends)])
    found = kernels.sum_rows(x, torch.tensor(ends, device=DEVICE), relu=relu)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_largest_of_gathered_rows(width):
    row, ptr, column, _ = entries()
    x = torch.randn(50, width, device=DEVICE) - 5
    expected = torch.zeros_like(x)
    for i in row.unique().tolist():
        expected[i] = x[column[row == i]].amax(0)
    assert torch.equal(kernels.sum_rows(x, ptr, column, mode="max"), expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_products_of_two_rows(width):
    row, _, column, _ = entries()
    x, y = (torch.randn(50, width, device=DEVICE) for _ in range(2))
    expected = (x[row] * y[column]).sum(1)
    torch.testing.assert_close(kernels.dot_rows(x, row, y, column), expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_copies_of_rows(width):
    _, _, column, _ = entries()
    x = torch.randn(50, width, device=DEVICE)
    gate = torch.randn(len(column), width, device=DEVICE)
    assert torch.equal(kernels.copy_rows(x, column), x[column])
    beyond = torch.where(column < 20, column, 50)
    expected = torch.where((column < 20)[:, None], x[column], 0.0)
    assert torch.equal(kernels.copy_rows(x, beyond), expected)
    opened = torch.where(gate > 0, x[column], 0.0)
    assert torch.equal(kernels.copy_rows(x, column, gate), opened)
    times = torch.randint(1, 4, (len(column),), device=DEVICE).float()
    assert torch.equal(kernels.copy_rows(x, column, gate, times), opened * times[:, None])


@pytest.mark.parametrize("shape", [(7, 3, 5), (40, 4, 64), (0, 2, 3)])
@pytest.mark.parametrize("side_by_side", [True, False])
def test_dropout_of_replicas(shape, side_by_side):
    keys = torch.tensor([3, 2**40 + 7, 12345, 0], device=DEVICE)[: shape[1]]
    rate = torch.tensor([0.0, 0.25, 0.5, 0.9], device=DEVICE)[: shape[1]]
    x = torch.randn(shape, device=DEVICE)
    x = x if side_by_side else x.flatten(0, 1)
    layer = Dropout(0.0, salt=4)
    layer.keys, layer.rate = keys.cpu(), rate.cpu()
    found = kernels.drop_rows(x, keys, 4 * SALT & 0xFFFFFFFF, rate)
    torch.testing.assert_close(found.cpu(), layer(x.cpu()))


KINDS = ["nodes", "padded nodes", "padded nodes alone", "padded nodes, linear",
         "table", "table of copies", "table alone", "table, linear",
         "sparse table", "sparse table of copies"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("widths", [(20, 64), (64, 2), (107, 128), (33, 16, 70), (5, 130, 40, 9)])
@pytest.mark.parametrize("shape", [(2, 150, 40), (3, 600, 9)])
def test_layers_summed_to_parents(shape, widths, kind):
    """Products, the ReLU of the last summed to parents or alone, or none, and all gradients."""
    replicas, rows, parents = shape
    generator = torch.Generator().manual_seed(0)

    def draw(*size):
        if "linear" in kind:
            return torch.randn(*size, generator=generator)
        # Sums of halves are exact: rounding cannot decide what ReLU lets through.
        return torch.randint(-2, 3, size, generator=generator) / 2

    own, padded = "nodes" in kind, kind not in ("nodes", "table")
    relu, summed = "linear" not in kind, "linear" not in kind and "alone" not in kind
    x = draw(replicas * rows if own else 50, widths[0])
    if "sparse" in kind:  # most rows end early, and one is empty
        share = torch.arange(50).div(49).pow(3).mul(widths[0]).ceil()
        x = x * (torch.arange(widths[0]) < share[:, None])
    above = draw(replicas * (parents if summed else rows), widths[-1])
    weights = [draw(replicas, a, b) for a, b in pairwise(widths)]
    biases = [draw(replicas, b) for b in widths[1:]]
    source = None if own else torch.randint(0, 50, (replicas * rows,), generator=generator)
    copies = torch.randint(1, 4, (50,), generator=generator).float() if "copies" in kind else None
    real = torch.tensor([rows, rows // 3, 0][:replicas] if padded else [rows] * replicas)
    clusters = real * parents // rows  # the others hold padding
    inside = torch.rand(replicas, rows, generator=generator).sort().values
    inside = torch.where(torch.arange(rows) < real[:, None], inside * clusters[:, None],
                         clusters[:, None] + inside * (parents - clusters)[:, None])  # fmt: skip
    assignment = (inside.long() + parents * torch.arange(replicas)[:, None]).flatten()
    there = (torch.arange(rows) < real[:, None]).flatten()
    leaves = [t.requires_grad_() for t in (x, *weights, *biases)]
    hidden = x if own else x[source]
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        parts = (hidden.relu() if i else hidden).view(replicas, rows, -1)
        hidden = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    times = there if copies is None else copies[source] * there
    hidden = hidden * times[:, None]
    pooled = hidden.relu() if relu else hidden
    if summed:
        pooled = torch.zeros_like(above).index_add(0, assignment, pooled)
    expected = torch.autograd.grad(pooled, leaves, above)
    x, *layers = (t.detach().to(DEVICE) for t in leaves)
    weights, biases = layers[: len(weights)], layers[len(weights) :]
    reach = None
    if not own:
        table = FeatureTable.of(x, torch.zeros(50, dtype=torch.int64, device=DEVICE))
        x, reach = table.rows, table.reach
        weights[0] = weights[0][:, table.feature].contiguous()
    rest = [None if t is None else t.to(DEVICE) for t in (source, reach, copies, real)]
    counts = torch.bincount(assignment, minlength=replicas * parents)
    parts = assignment, F.pad(counts.cumsum(0), (1, 0)), clusters
    parts = layer_kernels.Clusters(*[t.to(DEVICE) for t in parts]) if summed else None
    given = layer_kernels.Rows(x, *rest, parts)
    found, kept = layer_kernels.products(given, weights, biases, relu)
    near = 1e-5 * max(1, pooled.abs().max().item())
    torch.testing.assert_close(found.cpu(), pooled.detach(), atol=near, rtol=1e-5)
    above = above.to(DEVICE)
    to_x, *pairs = layer_kernels.gradients(given, weights, kept, above, relu, to_x=own)
    if not own:
        pairs[0][0] = pairs[0][0][:, table.column]
    for mine, theirs in zip([to_x, *pairs[0], *pairs[1]], expected, strict=True):
        if mine is not None:
            near = 1e-5 * max(1, theirs.abs().max().item())
            torch.testing.assert_close(mine.cpu(), theirs, atol=near, rtol=1e-5)


def test_every_kernel_compiles_for_a_gpu():
    """What the interpreter takes, a compiler may refuse; it needs no GPU for that."""
    script = Path(__file__).with_name("compile_kernels.py")
    environment = {**os.environ, "TRITON_INTERPRET": "0"}
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment
    )
    assert (run.returncode, run.stdout) == (0, ""), run.stdout + run.stderr[-2000:]
