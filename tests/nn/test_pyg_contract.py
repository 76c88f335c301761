"""The contract of PyG's poolings: call, result, repr, devices, empty graphs, compilers, resets."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from tests.nn.graphs import add_trees, dense_adjacency, random_batch, random_graph
from torch import nn
from torch.func import functional_call, hessian, jacrev
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import GraphConv

import sepool
from sepool.nn import (
    SEPG,
    SEPN,
    Pooled,
    SEPAutoencoder,
    SEPGraphNet,
    SEPooling,
    SEPUnpooling,
    TreeConv,
)
from sepool.nn.adjacency import Adjacency

LAYERS = [SEPooling(), SEPooling("max", "binary"), SEPUnpooling()]
MODELS = [SEPG(5, 8, 2), SEPN(5, 8, 2), SEPAutoencoder(5, 8), TreeConv(5, 8), SEPGraphNet(5, 8, 2)]
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
    ),
]


@pytest.mark.parametrize("device", DEVICES)
def test_pooling_forward_unpacks_as_pyg_poolings(device):
    batch = random_batch(num_graphs=3).to(device)
    levels = sepool.hierarchy(batch)
    out = SEPooling()(batch.x, levels, 1)
    x, edge_index, edge_weight, graph, edge_attr = out
    assert isinstance(out, Pooled)
    assert edge_attr is None
    assert x.shape == (levels.num_clusters(1), 5)
    assert edge_index.shape == (2, len(edge_weight))
    assert graph.shape == (len(x),)
    assert int(edge_index.max()) < len(x)
    assert {part.device.type for part in (x, edge_index, edge_weight, graph)} == {device}
    assert GraphConv(5, 4).to(device)(x, edge_index, edge_weight).shape == (len(x), 4)


def test_pooling_forward_takes_edges_by_keyword():
    batch = random_batch(weighted=True)
    levels = sepool.hierarchy(batch)
    edges = {"edge_index": batch.edge_index, "edge_weight": batch.edge_weight}
    out = SEPooling()(batch.x, levels=levels, level=1, **edges)
    torch.testing.assert_close(out.edge_weight, levels.weights[0])


def test_pooling_learned_weights_has_their_gradient():
    batch = random_batch(weighted=True)
    levels, weight = sepool.hierarchy(batch), batch.edge_weight.double().requires_grad_()

    def pool(weight):
        pool = SEPooling()
        return pool(batch.x, levels, 1, batch.edge_index, edge_weight=weight).edge_weight

    assert torch.autograd.gradcheck(pool, weight)


def test_pooling_weights_where_they_are_dropped_is_refused():
    batch = random_batch(weighted=True)
    levels = sepool.hierarchy(batch)
    with pytest.raises(ValueError, match='pooled="binary" drops weights'):
        SEPooling(pooled="binary")(
            batch.x, levels, 1, batch.edge_index, edge_weight=batch.edge_weight
        )
    with pytest.raises(ValueError, match=r"edge_weight needs the edges .*: pass edge_index"):
        SEPooling()(batch.x, levels, 1, edge_weight=batch.edge_weight)


def test_unpooling_forward_is_the_way_back():
    levels = sepool.hierarchy(random_batch())
    x = torch.randn(levels.num_clusters(1), 4)
    out = SEPUnpooling()(x, levels, 1)
    assert torch.equal(out, x[levels.assignment(1)])


@pytest.mark.parametrize("module", [*LAYERS, *MODELS], ids=repr)
def test_module_survives_copy_pickle_and_state(module):
    other = pickle.loads(pickle.dumps(copy.deepcopy(module)))
    other.load_state_dict(module.state_dict())
    assert repr(other) == repr(module)
    assert other.train().eval().training is False


@pytest.mark.parametrize("module", LAYERS, ids=repr)
def test_layer_reset_parameters_has_none_to_draw(module):
    module.reset_parameters()
    assert list(module.parameters()) == []


@pytest.mark.parametrize("module", MODELS, ids=repr)
def test_model_reset_parameters_draws_every_matrix_anew(module):
    module = copy.deepcopy(module)
    before = {name: value.clone() for name, value in module.named_parameters()}
    module.reset_parameters()
    for name, value in module.named_parameters():
        assert value.dim() < 2 or not torch.equal(value, before[name]), name


def test_layers_in_a_model_are_reset_with_it():
    nn.ModuleList(LAYERS).apply(lambda module: getattr(module, "reset_parameters", int)())


@pytest.mark.parametrize("module", [*LAYERS, *MODELS], ids=repr)
def test_torchscript_is_refused_in_one_sentence(module):
    name = type(module).__name__
    with pytest.raises(NotImplementedError, match=rf"^{name} has no TorchScript; use torch.comp"):
        torch.jit.script(module)


@pytest.mark.parametrize("model", [SEPG(5, 8, 2), SEPN(5, 8, 2), SEPGraphNet(5, 8, 2)], ids=repr)
def test_empty_graphs_have_logits(model):
    graphs = [random_graph(n, n, share=0.0) for n in (1, 4)]
    graphs = add_trees(graphs, [(1, 1, 1, 1), (4, 2, 1, 1)])
    batch = Batch.from_data_list(graphs)
    out = model(batch)
    assert out.isfinite().all()
    out.sum().backward()


def test_explainer_of_a_model_with_a_stored_hierarchy_masks_edges():
    torch.manual_seed(0)
    data = random_batch(num_graphs=1, weighted=True)[0]
    levels, model = sepool.hierarchy(data), SEPG(5, 8, 2)

    class Explained(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x, edge_index, edge_weight, levels):
            return self.model(Data(x=x, edge_index=edge_index, edge_weight=edge_weight), levels)

    explain = Explainer(
        Explained(),
        GNNExplainer(epochs=5),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    options = {"edge_weight": data.edge_weight, "levels": levels}
    explanation = explain(data.x, data.edge_index, **options)
    assert explanation.edge_mask.shape == (data.num_edges,)
    assert explanation.edge_mask.unique().numel() > 1


@pytest.mark.parametrize(
    "model", [SEPG(5, 4, 2), SEPN(5, 4, 2, 1), SEPGraphNet(5, 4, 2, norm=False, layers=1)], ids=repr
)
def test_hessian_by_torch_func_is_that_of_autograd(model):
    data = random_batch(num_graphs=1)[0]
    model, levels = copy.deepcopy(model).double(), sepool.hierarchy(data)
    name = next(name for name, _ in model.named_parameters() if name.endswith("bias"))
    start = dict(model.named_parameters())[name].detach() + 0.1

    def loss(bias):
        other = Data(x=data.x.double(), edge_index=data.edge_index)
        return functional_call(model, {name: bias}, (other, levels)).sigmoid().square().sum()

    expected = torch.autograd.functional.hessian(loss, start)
    torch.testing.assert_close(jacrev(jacrev(loss))(start), expected)
    torch.testing.assert_close(hessian(loss)(start), expected)


@pytest.mark.parametrize("options", [{}, {"loops": True, "weighted": True}], ids=str)
def test_self_loops_all_averages_with_a_plus_i(options):
    batch = random_batch(**options)
    weight = batch.edge_weight.double() if "edge_weight" in batch else None
    layout = sepool.hierarchy(batch).edge_layout
    a = Adjacency.from_edges(batch.edge_index, weight, batch.num_nodes, layout, "all")
    dense = dense_adjacency(batch).t() + torch.eye(batch.num_nodes)
    scale = dense.sum(1).rsqrt()
    expected = scale[:, None] * dense * scale @ batch.x.double()
    torch.testing.assert_close(a.smooth(batch.x.double()), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", [SEPG, SEPN])
def test_self_loops_all_changes_levels_with_pooled_loops(model):
    torch.manual_seed(0)
    batch = random_batch()
    plain, paper = model(5, 8, 2), model(5, 8, 2, self_loops="all")
    paper.load_state_dict(plain.state_dict())
    assert not torch.allclose(plain(batch), paper(batch))
    binary = {"pooled": "binary"}  # no loops are pooled, so that both are one
    plain, paper = model(5, 8, 2, **binary), model(5, 8, 2, self_loops="all", **binary)
    paper.load_state_dict(plain.state_dict())
    torch.testing.assert_close(plain(batch), paper(batch))


@pytest.mark.parametrize("model", [SEPG, SEPN])
def test_bad_options_are_named(model):
    with pytest.raises(ValueError, match="self_loops must be one of remaining, all, got 'none'"):
        model(5, 8, 2, self_loops="none")
    with pytest.raises(ValueError, match="edge_reduce must be one of sum, mean, got 'max'"):
        model(5, 8, 2, edge_reduce="max")
    with pytest.raises(ValueError, match="edge_reduce must be one of sum, mean, got 'max'"):
        SEPooling(edge_reduce="max")
