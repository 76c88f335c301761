"""Both layers of attention: order, batches, precision, compilation, copies."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from tests.nn.graphs import add_trees, random_batch, random_graph
from torch_geometric.data import Data

import sepool
from sepool.nn import ClusterAttention, TreeAttention

LAYERS = [
    TreeAttention(5, 1),
    ClusterAttention(5, 1),
    ClusterAttention(5, 1, 2, kernel=True),
    ClusterAttention(5, 1, queries="clusters", kernel=True),
]
over_layers = pytest.mark.parametrize("layer", LAYERS, ids=repr)


@over_layers
def test_attention_of_a_batch_is_that_of_its_graphs(layer):
    batch = random_batch()
    alone = [layer(data.x, sepool.hierarchy(data)) for data in batch.to_data_list()]
    together = layer(batch.x, sepool.hierarchy(batch))
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-5)


@over_layers
def test_attention_moves_along_with_the_nodes(layer):
    [graph] = add_trees([random_graph(14, 0)], [(14, 6, 3, 1)])
    order = torch.randperm(14, generator=torch.Generator().manual_seed(0))
    place, head = order.argsort(), 4 + 2 * 3
    tree = graph.tree.clone()
    tree[1] = 1  # symmetric, but no longer row by row
    tree[head : head + 14] = place[tree[head : head + 14].long()].int()
    other = Data(x=graph.x[order], edge_index=place[graph.edge_index], tree=tree)
    expected = layer(graph.x, sepool.hierarchy(graph))
    expected = expected[order] if len(expected) == 14 else expected
    out = layer(other.x, sepool.hierarchy(other))
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


@over_layers
def test_attention_trains_under_autocast_and_in_half_precision(layer):
    layer, batch = copy.deepcopy(layer), random_batch()
    levels = sepool.hierarchy(batch)
    with torch.autocast("cpu", torch.bfloat16):
        out = layer(batch.x, levels)
    assert out.dtype == torch.bfloat16
    out.float().square().mean().backward()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())
    short = copy.deepcopy(layer).bfloat16()(batch.x.bfloat16(), levels)
    assert short.dtype == torch.bfloat16
    expected = layer(batch.x, levels)
    assert (short - expected).abs().max() < 0.1 * expected.abs().max()


@over_layers
def test_attention_compiles_into_one_graph(layer):
    torch._dynamo.reset()
    batch = random_batch()
    levels = sepool.hierarchy(batch)
    sizes = {"max_nodes": 15}
    if isinstance(layer, ClusterAttention):
        sizes["max_clusters"] = 7
    fast = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(fast(batch.x, levels, **sizes), layer(batch.x, levels))


@over_layers
def test_attention_survives_copy_pickle_and_reset(layer):
    other = pickle.loads(pickle.dumps(copy.deepcopy(layer)))
    other.load_state_dict(layer.state_dict())
    assert repr(other) == repr(layer)
    other.reset_parameters()
    before = dict(layer.named_parameters())
    for name, value in other.named_parameters():
        if value.dim() > 1 and name != "bias":
            assert not torch.equal(value, before[name]), name
    with pytest.raises(NotImplementedError, match="has no TorchScript"):
        torch.jit.script(layer)
