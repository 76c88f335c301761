"""torch.compile without graph breaks; on a GPU, the results of the CPU and the same bits twice."""

from __future__ import annotations

import copy
import sys

import pytest
import torch
from tests.nn.graphs import gradients, random_batch

from sepool.nn import SEPG, SEPN, SEPooling, SEPUnpooling
from sepool.nn.convs import CONVS
from sepool.pyg.hierarchy import hierarchy

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
compiles = pytest.mark.skipif(
    sys.platform == "win32" or torch.__version__ < "2.6", reason="torch.compile is not what it is"
)


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager")


@compiles
@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
@pytest.mark.parametrize("pooled", ["weighted", "binary"])
def test_pooling_compiles(reduce, pooled):
    levels = hierarchy(random_batch())
    layer = SEPooling(reduce, pooled)
    x = torch.randn(levels.num_clusters(0), 4, requires_grad=True)
    wanted = layer(x, levels, 1)
    found = compiled(layer)(x, levels, 1)
    torch.testing.assert_close(found.x, wanted.x)
    assert torch.equal(found.edge_index, wanted.edge_index)
    torch.testing.assert_close(
        gradients(found.x.square().sum(), x), gradients(wanted.x.square().sum(), x)
    )


@compiles
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_unpooling_compiles(reduce):
    levels = hierarchy(random_batch())
    layer = SEPUnpooling(reduce)
    x = torch.randn(levels.num_clusters(1), 4, requires_grad=True)
    wanted, found = layer(x, levels, 1), compiled(layer)(x, levels, 1)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(gradients(found.sum(), x), gradients(wanted.sum(), x))


@compiles
@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_sepg_compiles(device, conv):
    directed = conv in ("GCN", "GAT")
    batch = random_batch(directed=directed, weighted=directed).to(device)
    levels, model = hierarchy(batch), SEPG(5, 8, 2, conv=conv).to(device)

    def run(batch):
        return model(batch, levels)

    wanted, parameters = model(batch), list(model.parameters())
    found = compiled(run)(batch)
    near = 1e-5 if device == "cpu" else 1e-4
    torch.testing.assert_close(found, wanted, rtol=near, atol=near)
    from_found, from_wanted = (gradients(y.square().sum(), *parameters) for y in (found, wanted))
    torch.testing.assert_close(from_found, from_wanted, rtol=10 * near, atol=10 * near)


@needs_gpu
@pytest.mark.parametrize("options", [{}, {"directed": True, "weighted": True}], ids=str)
@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("model", [SEPG, SEPN])
def test_gpu_gives_the_logits_of_the_cpu(model, conv, options):
    torch.manual_seed(0)
    batch, net = random_batch(num_graphs=16, **options), model(5, 32, 2, conv=conv)
    wanted = net(batch)
    found = copy.deepcopy(net).cuda()(batch.cuda()).cpu()
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def trained(make, batch):
    """The weights after some steps."""
    torch.manual_seed(0)
    model = make().cuda()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(20):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@needs_gpu
@pytest.mark.parametrize("reduce", ["sum", "max"])
def test_gpu_gives_the_same_bits_twice(reduce):
    batch = random_batch(num_graphs=64).cuda()
    for make in (
        lambda: SEPG(5, 32, 2, reduce=reduce, dropout=0.5),
        lambda: SEPN(5, 32, 2, reduce=reduce, dropout=0.5, norm=True),
    ):
        assert torch.equal(trained(make, batch), trained(make, batch))
