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
    counted = opened * times[:, None]
    assert torch.equal(kernels.copy_rows(x, column, gate, times), counted)
    assert torch.equal(kernels.copy_rows(x, column, gate, times, base=gate), gate + counted)
    turned, apart = gate.t().contiguous().t(), torch.stack([times, times], 1)[:, 0]
    found = kernels.copy_rows(x, column, turned, apart, base=turned)
    assert torch.equal(found, gate + counted)


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


class Case:
    """Layers of replicas, the nodes that they take, and what they are summed to, if anything."""

    def __init__(self, shape, widths, kind):
        (self.replicas, self.rows, parents), self.kind = shape, kind
        self.generator = torch.Generator().manual_seed(0)
        self.own, padded = "nodes" in kind, kind not in ("nodes", "table")
        self.relu = "linear" not in kind
        self.summed = self.relu and "alone" not in kind
        nodes = self.replicas * self.rows
        x = self.draw(nodes if self.own else 50, widths[0])
        source = None if self.own else self.draw_below(50, nodes)
        if "sparse" in kind:  # most rows end early, and the many nodes of the first not at all
            share = torch.arange(50).div(49).pow(3).mul(widths[0]).ceil()
            x = x * (torch.arange(widths[0]) < share[:, None])
            source[:200] = 0
        self.x, self.source = x, source
        self.copies = self.draw_below(3, 50) + 1.0 if "copies" in kind else None
        self.weights = [self.draw(self.replicas, a, b) for a, b in pairwise(widths)]
        self.biases = [self.draw(self.replicas, b) for b in widths[1:]]
        counts = [self.rows, self.rows // 3, 0] if padded else [self.rows] * 3
        self.real = torch.tensor(counts[: self.replicas])
        self.there = (torch.arange(self.rows) < self.real[:, None]).flatten()
        self.clusters = self.real * parents // self.rows  # the others hold padding
        inside = torch.rand(self.replicas, self.rows, generator=self.generator).sort().values
        lower = self.clusters[:, None]
        inside = torch.where(
            torch.arange(self.rows) < self.real[:, None],
            inside * lower,
            lower + inside * (parents - lower),
        )
        first = parents * torch.arange(self.replicas)
        self.assignment = (inside.long() + first[:, None]).flatten()
        real = (torch.arange(parents) < lower).flatten()
        self.counted = real if self.summed else self.there  # what the last gradient is known of
        self.above = self.draw(len(self.counted), widths[-1])

    def draw(self, *size):
        if "linear" in self.kind:
            return torch.randn(*size, generator=self.generator)
        # Sums of halves are exact: rounding cannot decide what ReLU lets through.
        return self.draw_below(5, *size) / 2 - 1

    def draw_below(self, end, *size):
        return torch.randint(0, end, size, generator=self.generator)

    def expected(self):
        """What is found, and the gradients of the rows, the weights and the biases."""
        leaves = [t.detach().requires_grad_() for t in (self.x, *self.weights, *self.biases)]
        x, layers = leaves[0], leaves[1:]
        hidden = x if self.own else x[self.source]
        for i in range(len(self.weights)):
            weight, bias = layers[i], layers[i + len(self.weights)]
            parts = (hidden.relu() if i else hidden).view(self.replicas, self.rows, -1)
            hidden = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
        times = self.there if self.copies is None else self.copies[self.source] * self.there
        hidden = hidden * times[:, None]
        out = hidden.relu() if self.relu else hidden
        if self.summed:
            out = torch.zeros_like(self.above).index_add(0, self.assignment, out)
        return out.detach(), torch.autograd.grad(out, leaves, self.above)

    def found(self):
        """The same by kernels; where there is padding, they get what they must not use."""
        x, weights, source, reach = self.x.clone(), list(self.weights), self.source, None
        exact = False
        if self.own:
            x[~self.there] = torch.nan
        else:
            table = FeatureTable.of(x, torch.zeros(50, dtype=torch.int64))
            x, reach, exact = table.rows, table.reach, table.exact
            assert exact == ("linear" not in self.kind)  # only a GPU has TensorFloat-32, to show it
            weights[0] = weights[0][:, table.feature].contiguous()
            source = torch.where(self.there, source, 10**6)
        above = torch.where(self.counted[:, None], self.above, torch.nan).to(DEVICE)
        weights, biases = ([t.to(DEVICE) for t in part] for part in (weights, self.biases))
        counts = torch.bincount(self.assignment, minlength=len(self.above))
        clusters = self.assignment, F.pad(counts.cumsum(0), (1, 0)), self.clusters
        clusters = layer_kernels.Clusters(*[t.to(DEVICE) for t in clusters])
        rest = [None if t is None else t.to(DEVICE) for t in (source, reach, self.copies)]
        clusters = clusters if self.summed else None
        given = layer_kernels.Rows(x.to(DEVICE), *rest, self.real.to(DEVICE), clusters, exact)
        out, kept = layer_kernels.products(given, weights, biases, self.relu)
        to_x, *pairs = layer_kernels.gradients(
            given, weights, kept, above, self.relu, to_x=self.own
        )
        if not self.own:
            pairs[0][0] = pairs[0][0][:, table.column.to(DEVICE)]
        return out, [to_x, *pairs[0], *pairs[1]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("widths", [(20, 64), (64, 2), (107, 128), (33, 16, 70), (5, 130, 40, 9)])
@pytest.mark.parametrize("shape", [(2, 150, 40), (3, 600, 9)])
def test_layers_summed_to_parents(shape, widths, kind):
    """Products, the ReLU of the last summed to parents or alone, or none, and all gradients."""
    case = Case(shape, widths, kind)
    (out, grads), (found, by_kernels) = case.expected(), case.found()
    for mine, wanted in zip([found, *by_kernels], [out, *grads], strict=True):
        if mine is not None:
            near = 1e-5 * max(1, wanted.abs().max().item())
            torch.testing.assert_close(mine.cpu(), wanted, atol=near, rtol=1e-5)


@pytest.mark.parametrize("strange", [float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["nodes", "nodes alone", "nodes, linear"])
def test_what_is_no_number_stays_none(kind, strange):
    case = Case((2, 150, 40), (20, 64), kind)
    case.x[3, 4] = strange
    out, _ = case.found()
    assert out[:40].isnan().any()
    assert not out[len(out) // 2 :].isnan().any()  # of the other replica


def test_every_kernel_compiles_for_a_gpu():
    """What the interpreter takes, a compiler may refuse; it needs no GPU for that."""
    script = Path(__file__).with_name("compile_kernels.py")
    environment = {**os.environ, "TRITON_INTERPRET": "0"}
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment
    )
    assert (run.returncode, run.stdout) == (0, ""), run.stdout + run.stderr[-2000:]
