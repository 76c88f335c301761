"""torch.compile without graph breaks; on a GPU, the results of the CPU and the same bits twice."""

from __future__ import annotations

import copy
import sys

import pytest
import torch
from tests.nn.graphs import gradients, random_batch
from torch_geometric.data import Data

from sepool.nn import SEPG, SEPN, SEPGraphNet, SEPooling, SEPUnpooling
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
@pytest.mark.heavy
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


def batches():
    """Batches of different numbers of graphs, nodes and edges."""
    return [random_batch(seed, num_graphs=n, weighted=True) for seed, n in enumerate((4, 5, 7, 3))]


@compiles
@pytest.mark.parametrize("pooled", ["weighted", "binary"])
@pytest.mark.parametrize("model", [SEPG, SEPN, SEPGraphNet])
def test_compiled_model_takes_batches_of_changing_size(model, pooled):
    torch.manual_seed(0)
    net = model(5, 8, 2, pooled=pooled)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    fast = torch.compile(net, backend="aot_eager")
    for batch in batches():
        torch.testing.assert_close(fast(batch), net(batch), rtol=1e-4, atol=1e-4)
    assert not torch._dynamo.utils.counters["recompile_limit"]


@compiles
@pytest.mark.parametrize("reduce", ["sum", "max"])
@pytest.mark.parametrize("model", [SEPG, SEPN, SEPGraphNet])
def test_compiled_model_of_a_hierarchy_is_one_graph_of_any_size(model, reduce):
    torch.manual_seed(0)
    net = model(5, 8, 2, reduce=reduce)
    fast = compiled(net)
    torch._dynamo.utils.counters.clear()
    for batch in batches():
        levels = hierarchy(batch)
        torch.testing.assert_close(fast(batch, levels), net(batch), rtol=1e-4, atol=1e-4)
        fast(batch, levels)  # the hierarchy has been in use
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] <= 2


@compiles
def test_compiled_model_that_reads_inside_one_graph_is_refused():
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"torch\.compiler\.disable"):
        compiled(SEPG(5, 8, 2))(random_batch())


class Exported(torch.nn.Module):
    """A model of tensors and a hierarchy."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, edge_index, levels):
        return self.model(Data(x=x, edge_index=edge_index), levels)


@pytest.mark.skipif(not hasattr(torch.export, "AdditionalInputs"), reason="newer torch.export")
@pytest.mark.parametrize(
    "model",
    [SEPG(5, 8, 2), SEPG(5, 8, 2, conv="GIN", reduce="max"), SEPN(5, 8, 2), SEPGraphNet(5, 8, 2)],
    ids=repr,
)
def test_exported_model_takes_batches_of_any_size(model, tmp_path):
    def inputs(seed, num_graphs):
        batch = random_batch(seed, num_graphs=num_graphs)
        return batch, (batch.x, batch.edge_index, hierarchy(batch))

    others = torch.export.AdditionalInputs()
    others.add(inputs(1, 9)[1])
    program = torch.export.export(
        Exported(model.eval()), inputs(0, 5)[1], dynamic_shapes=others, strict=False
    )
    torch.export.save(program, tmp_path / "model.pt2")
    program = torch.export.load(tmp_path / "model.pt2")
    for seed, num_graphs in ((2, 7), (3, 20)):
        batch, args = inputs(seed, num_graphs)
        torch.testing.assert_close(program.module()(*args), model(batch), rtol=1e-4, atol=1e-4)


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
