"""The kernels of pooling that drops nodes, interpreted or on a GPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

from experiments.tests.models.toys import batch_of, random_set, store_of  # noqa: E402

from sepool_experiments.models.parts import selection  # noqa: E402

kernels = pytest.importorskip("sepool_experiments.kernels.selection")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def test_the_graph_between_nodes():
    a = batch_of(store_of(random_set())).operators[0].adjacency
    nodes = torch.rand(a.num_nodes) < 0.5
    expected = selection.between(a, nodes).adjacency.weight
    state = (tensor.to(DEVICE) for tensor in (a.weight, a.ptr, a.row, a.index, nodes))
    torch.testing.assert_close(kernels.between(*state).cpu(), expected)


@pytest.mark.parametrize("width", [3, 70])
def test_gates(width):
    x, score = torch.randn(40, width, requires_grad=True), torch.randn(40, requires_grad=True)
    nodes, above = torch.rand(40) < 0.5, torch.randn(40, width)
    expected = selection.gate(x, score, nodes)
    state = [tensor.detach().to(DEVICE) for tensor in (x, score, nodes)]
    torch.testing.assert_close(kernels.gate(*state).cpu(), expected)
    found = kernels.gate_gradient(*state, above.to(DEVICE))
    slopes = torch.autograd.grad(expected, (x, score), above)
    for mine, wanted in zip(found, slopes, strict=True):
        torch.testing.assert_close(mine.cpu(), wanted, atol=1e-5, rtol=1e-5)
