"""Whole models with the Triton kernels, by their interpreter where there is no GPU, and without."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Batch

from sepool_experiments.batches import store as stores
from sepool_experiments.batches.store import GraphStore
from sepool_experiments.engine import loss
from sepool_experiments.layers import (
    SEPG,
    Linear,
    attention,
    dropout,
    gat,
    layers,
    norm,
    ops,
    softmax,
)
from sepool_experiments.layers import (
    concat_neighbors as beside,
)
from sepool_experiments.layers.conv_base import GatheringConv
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.layers.feature_table import FeatureTable
from sepool_experiments.models.parts import dense, selection
from sepool_experiments.models.parts import neighbor_max as largest
from sepool_experiments.models.parts import segments as ragged
from sepool_experiments.models.parts import set2set_attention as looks
from sepool_experiments.models.systems import SYSTEMS
from sepool_experiments.protocols.units import Config
from small_graphs import forest, graph_set, pyg_graphs

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GRAPHS = graph_set(12)
TREES = forest(GRAPHS)
BASELINES = [name for name, it in SYSTEMS.items() if it.kind == "graphs" and not it.uses_tree]


KERNELS = (
    *((module, "sepool_experiments.layers", "kernels") for module in (ops, dropout)),
    (attention, "sepool_experiments.layers", "attention_kernels"),
    (beside, "sepool_experiments.kernels.concat_neighbors", "beside_kernels"),
    (layers, "sepool_experiments.layers", "layer_kernels"),
    *((module, "sepool_experiments.layers", "norm_kernels") for module in (layers, norm)),
    (softmax, "sepool_experiments.layers", "softmax_kernels"),
    (dense, "sepool_experiments.models.graphs", "dense_kernels"),
    (largest, "sepool_experiments.models.graphs", "largest_kernels"),
    (looks, "sepool_experiments.models.graphs", "look_kernels"),
    (ragged, "sepool_experiments.models.graphs", "rank_kernels"),
    (selection, "sepool_experiments.models.graphs", "selection_kernels"),
    (loss, "sepool_experiments", "step_kernels"),
)


@pytest.fixture
def with_kernels(monkeypatch):
    """Until it is called, kernels are taken for nothing; from then on for everything."""
    for module, _, name in KERNELS:
        monkeypatch.setattr(module, name, None)

    def take():
        for module, package, name in KERNELS:
            monkeypatch.setattr(module, name, pytest.importorskip(f"{package}.{name}"))
            monkeypatch.setattr(module, "fits_kernels", lambda x: True, raising=False)
        monkeypatch.setattr(ops, "MANY", 0)
        torch.use_deterministic_algorithms(True, warn_only=True)  # memory nobody wrote is NaN now

    yield take
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def store_of(monkeypatch):
    """Makes stores with a table, as every one on a GPU has it, and nodes that are one row."""
    monkeypatch.setattr(stores, "SPARED", 0.0)
    return _store


def _store(*given):
    store = GraphStore(GRAPHS, TREES, *given, device=DEVICE, by_source=True)
    if not isinstance(store.x, FeatureTable):
        store.sort_features()
    assert bool((store.x.feature.diff() < 0).any())  # columns are in another order
    return store


def batch_of(store, few=True):
    """Some graphs for each of two replicas, or so many that there are more nodes than kinds."""
    ids = [[0, 3, 5], [7, 2, 12]]  # the last is no graph
    ids = torch.tensor(ids if few else [[*range(8), 12], range(3, 12)], device=DEVICE)
    return store.batch(ids, store.shape(ids, spare=0.2))


def compare(model, batch, with_kernels):
    """What a model finds and has seen, and its gradients, without kernels and with them."""
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith("bias"):  # which start as 0, as if they were not there
                values.add_(torch.randn_like(values) / 4)
    outs, seen = [], [buffer.clone() for buffer in model.buffers()]
    for kernels in (False, True):
        if kernels:
            with_kernels()
        model.zero_grad()
        for buffer, before in zip(model.buffers(), seen, strict=True):
            buffer.copy_(before)
        out = batch.by_replica(model(batch))
        (out.square().sum(-1) * batch.graph_mask).sum().backward()
        learned = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        outs.append([out.detach()[batch.graph_mask], *map(torch.clone, model.buffers()), *learned])
    for plain, by_kernels in zip(*outs, strict=True):
        near = 1e-4 * max(1.0, plain.abs().max().item())
        torch.testing.assert_close(by_kernels, plain, rtol=1e-4, atol=near)


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("conv", CONVS)
def test_kernels_change_nothing(conv, norm, with_kernels, store_of):
    torch.manual_seed(0)
    store = store_of(CONVS[conv])
    assert store.multiplicity is not None
    model = SEPG(store.num_features, 8, 2, conv=conv, norm=norm, replicas=2).to(DEVICE)
    compare(model, batch_of(store), with_kernels)


@pytest.fixture
def looked_up(monkeypatch):
    """Every time that nodes are told where to look themselves up."""
    places, found = FeatureTable.places, []

    def counted(*given):
        found.append(given)
        return places(*given)

    monkeypatch.setattr(FeatureTable, "places", counted)
    return found


@pytest.mark.parametrize("blocks", [None, 0])
def test_attention_looks_up_what_kinds_are(blocks, with_kernels, store_of, looked_up):
    """Of nodes of few kinds no row is written down, whether they are summed to clusters or not."""
    torch.manual_seed(0)
    store = store_of(CONVS["GAT"])
    model = SEPG(store.num_features, 8, 2, conv="GAT", blocks=blocks, replicas=2).to(DEVICE)
    if blocks == 0:
        store.multiplicity = None
    compare(model, batch_of(store, few=False), with_kernels)
    assert len(looked_up) == 1


@pytest.mark.parametrize("why", ["wide", "many kinds", "few rows"])
def test_nothing_is_looked_up_where_it_cannot_be(
    why, with_kernels, store_of, looked_up, monkeypatch
):
    torch.manual_seed(0)
    store = store_of(CONVS["GAT"])
    model = SEPG(store.num_features, 8, 2, conv="GAT", replicas=2).to(DEVICE)
    if why == "wide":
        kernels = pytest.importorskip("sepool_experiments.kernels.attention")
        monkeypatch.setattr(kernels, "WIDEST", 4)
    elif why == "many kinds":
        kinds = store.x.kinds.repeat(50, 1)
        store.x = store.x._replace(kinds=kinds)
    else:
        monkeypatch.setattr(gat, "has_layer_kernel", lambda *given: False)
    compare(model, batch_of(store, few=False), with_kernels)
    assert not looked_up


class Mixed(GatheringConv):
    """A convolution of somebody else, of whose layers nothing is known."""

    def __init__(self, before, after, replicas=None):
        super().__init__()
        self.linear = Linear(before, after, replicas=replicas)

    def gather(self, x, prepared):
        return x + prepared.adjacency.propagate(x)

    def combine(self, gathered):
        return self.linear(gathered)


def test_what_is_gathered_already_is_not_gathered_again(with_kernels, monkeypatch):
    """Replicas against single models that see graphs as PyG has them."""
    monkeypatch.setitem(CONVS, "Mixed", Mixed)
    torch.manual_seed(0)
    store = GraphStore(GRAPHS, TREES, Mixed, device=DEVICE)
    model = SEPG(store.num_features, 8, 2, conv="Mixed", replicas=2).to(DEVICE)
    ids = torch.tensor([[0, 3, 5], [7, 2, 9]], device=DEVICE)
    batch = store.batch(ids, store.shape(ids))
    found = batch.by_replica(model(batch))
    graphs = pyg_graphs(GRAPHS, TREES)
    for replica, chosen in enumerate(ids.tolist()):
        alone = SEPG(store.num_features, 8, 2, conv="Mixed").to(DEVICE)
        alone.load_state_dict({name: p[replica] for name, p in model.state_dict().items()})
        expected = alone(Batch.from_data_list([graphs[i] for i in chosen]).to(DEVICE))
        torch.testing.assert_close(found[replica], expected, rtol=1e-4, atol=1e-4)


def test_kernels_change_nothing_after_training(with_kernels, store_of):
    """What was seen in training counts then, not the batch at hand."""
    torch.manual_seed(0)
    store = store_of(CONVS["GIN"])
    model = SEPG(store.num_features, 8, 2, conv="GIN", norm=True, replicas=2).to(DEVICE).eval()
    for buffer in model.buffers():
        buffer.uniform_(0.5, 2.0)
    compare(model, batch_of(store), with_kernels)


@pytest.mark.parametrize("name", BASELINES)
def test_kernels_change_no_baseline(name, with_kernels, store_of):
    torch.manual_seed(0)
    system = SYSTEMS[name]
    store = store_of(CONVS[system.conv], (0, 0, 0))
    model = system.build(store.num_features, 2, Config(hidden=8), 2).to(DEVICE)
    compare(model, batch_of(store), with_kernels)
