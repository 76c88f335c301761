"""Every kernel against its PyTorch reference, forward and backward.

On a GPU, or on the CPU by Triton's interpreter.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from functools import partial

import pytest
import torch

from sepool_experiments.kernels.registry import KERNELS, disabled, interpreted, load, use_kernel
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.attention import attention
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.feature_table import FeatureTable
from sepool_experiments.layers.linear_chain import (
    linear_chain,
    pooled_linear_chain,
)
from sepool_experiments.layers.norm import NodeNorm
from sepool_experiments.layers.segments import (
    pool_max,
    pool_sum,
    segment_max,
)

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PTR = torch.tensor([0, 2, 2, 5, 6, 40], device=DEVICE)  # an empty segment and a long one
SEGMENT = torch.arange(5, device=DEVICE).repeat_interleave(PTR.diff())
ORDER = torch.randperm(40, generator=torch.Generator().manual_seed(0)).to(DEVICE)
WIDTHS = (1, 5, 64, 100)


def draw(*shape):
    return torch.randn(*shape, device=DEVICE)


def halves(*shape):
    """Small multiples of 1/2, whose sums are exact: rounding cannot move zeros of ReLU."""
    return torch.randint(-2, 3, shape, device=DEVICE) / 2


def graph(nodes=40, symmetric=True):
    """A random graph with loops; node 3 has edges to all others, node 7 has none."""
    near = torch.rand(nodes, nodes) < 0.1
    near[3] = True
    near = near | near.T | torch.eye(nodes, dtype=torch.bool)
    near[7], near[:, 7] = False, False
    row, col = near.nonzero().unbind(1)
    ptr = torch._convert_indices_from_coo_to_csr(row, nodes)
    return Adjacency(ptr.to(DEVICE), col.to(DEVICE), None, symmetric)


def segment_sum_cases(width):
    x, weight, a = draw(40, width), torch.rand(40, device=DEVICE), graph()
    yield lambda x: pool_sum(x, PTR, SEGMENT), [x]
    yield lambda x: pool_sum(x, PTR, SEGMENT[ORDER.argsort()], ORDER), [x]
    yield lambda x: pool_sum(x, PTR, SEGMENT, row_weight=weight), [x]
    yield lambda x: pool_max(x, PTR, SEGMENT), [x]
    yield lambda x: segment_max(x.detach() - 5, PTR), [x]
    yield a.weighted(torch.rand(len(a.index), device=DEVICE)).propagate, [draw(40, width)]
    yield lambda x: pool_sum(x, PTR.new_zeros(4), SEGMENT[:0]), [draw(0, width)]


def dropout_cases(width):
    for shape in ((8, 4, width), (32, width), (0, width)):
        layer = Dropout(salt=4)
        layer.keys = torch.tensor([3, 2**40 + 7, 12345, 0], device=DEVICE)
        layer.rate = torch.tensor([0.0, 0.25, 0.5, 0.9], device=DEVICE)
        yield layer, [draw(*shape)]


def linear_cases(width):
    """Two replicas of 40 nodes, of which 40 and 13 are valid; 5 and 2 valid clusters."""
    num_valid = [torch.tensor(n, device=DEVICE) for n in ([40, 13], [3, 2])]
    clusters = torch.arange(40, device=DEVICE) * 3 // 40
    clusters = torch.cat([clusters, 3 + (torch.arange(40, device=DEVICE) >= 13) * 2])
    clusters[40:46] += 1
    clusters[40:53] = clusters[40:53].sort().values
    ptr = torch.nn.functional.pad(torch.bincount(clusters, minlength=6).cumsum(0), (1, 0))
    valid = torch.arange(40, device=DEVICE) < num_valid[0].unsqueeze(1)
    is_cluster = torch.arange(3, device=DEVICE) < num_valid[1].unsqueeze(1)
    rows = torch.randint(0, 20, (80,), device=DEVICE)
    features = halves(20, 7) * (torch.arange(7, device=DEVICE) < 5)
    table = FeatureTable.of(features, torch.arange(20, device=DEVICE))
    multiplicity = torch.randint(1, 4, (20,), device=DEVICE).float()

    def layers(parameters):
        return list(zip(parameters[::2], parameters[1::2], strict=True))

    def nodes(x, *parameters, relu=True):
        return linear_chain(x, layers(parameters), num_valid[0], relu=relu)[valid.flatten()]

    def looked_up(*parameters):
        return linear_chain(table, layers(parameters), num_valid[0], rows)[valid.flatten()]

    def pooled(x, *parameters):
        out = pooled_linear_chain(x, layers(parameters), num_valid, ptr, clusters)
        return out[is_cluster.flatten()]

    def pooled_table(*parameters, multiplicity=None):
        args = num_valid, ptr, clusters, rows, multiplicity
        return pooled_linear_chain(table, layers(parameters), *args)[is_cluster.flatten()]

    one = [halves(2, 7, width), halves(2, width)]
    two = [halves(2, 7, 3), halves(2, 3), halves(2, 3, width), halves(2, width)]
    x = halves(80, 7)
    for parameters in (one, two):
        yield nodes, [x, *parameters]
        yield partial(nodes, relu=False), [x, *parameters]
        yield looked_up, parameters
        yield pooled, [x, *parameters]
        yield pooled_table, parameters
        yield partial(pooled_table, multiplicity=multiplicity), parameters


def norm_cases(width):
    weight = torch.randint(0, 3, (600,), device=DEVICE).float()
    weight[:300] = 0  # nothing in the first replica
    norm = NodeNorm(width, 2).to(DEVICE)

    def run(x, scale, shift):
        norm.mean.zero_(), norm.var.fill_(1)
        out = torch.func.functional_call(norm, {"weight": scale, "bias": shift}, (x, weight))
        return torch.cat([out, norm.mean, norm.var])

    yield run, [3 * draw(600, width) + 4, draw(2, width), draw(2, width)]


def attention_cases(width):
    a, bias = graph(), torch.randint(1, 5, (40, 1), device=DEVICE).float().log()
    x, scores = draw(40, width) / width**0.5, 3 * draw(40, 2)
    yield partial(attention, a), [x, scores]
    yield lambda x, s: attention(a, x, s, bias), [x, 100 * scores]  # beyond the range of exp


CASES = {
    "segment_sum": segment_sum_cases,
    "dropout": dropout_cases,
    "linear": linear_cases,
    "norm": norm_cases,
    "attention": attention_cases,
}


def outputs(run, inputs):
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    out = run(*leaves)
    torch.manual_seed(1)
    grads = torch.autograd.grad(out, leaves, torch.randn_like(out)) if out.requires_grad else ()
    return [out.detach(), *grads]


@pytest.fixture
def launches(monkeypatch):
    """Names of the launch functions that were called."""
    called = []
    for module in {kernel.module for kernel in KERNELS.values()}:
        for name, function in vars(load(module)).items():
            if inspect.isfunction(function) and function.__module__ == load(module).__name__:
                monkeypatch.setattr(load(module), name, recording(called, module, function))
    return called


def recording(called, module, function):
    def call(*args, **options):
        called.append(module)
        return function(*args, **options)

    return call


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_kernel_equals_pytorch(name, width, launches):
    torch.manual_seed(0)
    for i, (run, inputs) in enumerate(CASES[name](width)):
        with disabled():
            expected = outputs(run, inputs)
        assert not launches
        with interpreted(), disabled(*set(KERNELS) - {name}):
            actual = outputs(run, inputs)
        assert KERNELS[name].module in launches, i
        launches.clear()
        for mine, reference in zip(actual, expected, strict=True):
            scale = max(1.0, reference.abs().max().item()) if reference.numel() else 1.0
            torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-4 * scale)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_linear_kernel_propagates_what_is_not_finite(value):
    x, parameters = draw(80, 7), [draw(2, 7, 5), draw(2, 5)]
    x[3, 4] = value
    with interpreted():
        out = linear_chain(x, [parameters], torch.tensor([40, 40], device=DEVICE), relu=True)
    assert out[3].isnan().any()
    assert out[torch.arange(80) != 3].isfinite().all()


def test_every_kernel_has_cases():
    assert set(KERNELS) == {*CASES, "batches"}  # test_batches.py


def test_disabled_kernel_is_not_used():
    x = draw(3, 2)
    with interpreted():
        assert use_kernel("norm", x)
        assert not use_kernel("norm", x.double())
        with disabled("norm"):
            assert not use_kernel("norm", x)
            assert use_kernel("dropout", x)
        with disabled():
            assert not any(use_kernel(name, x) for name in KERNELS)
        assert use_kernel("norm", x)
    assert use_kernel("norm", x) == x.is_cuda


def test_disabled_refuses_unknown_kernel():
    with pytest.raises(ValueError, match=r"unknown kernels \['nonsense'\]"), disabled("nonsense"):
        pass


@pytest.mark.parametrize("value", ["0", "1"])
def test_environment_variable_switches_all_kernels(value):
    code = (
        "import torch; from sepool_experiments.kernels.registry import interpreted, use_kernel\n"
        "with interpreted(): print(use_kernel('norm', torch.zeros(2, 2)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SEPOOL_KERNELS": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str(value == "1")
