"""ASAP against PyG's operator, block after block."""

from __future__ import annotations

import pytest
import torch
from experiments.tests.models.toys import (
    HIDDEN,
    NODES,
    batch_of,
    build,
    random_set,
    store_of,
    without_padding,
)
from torch_geometric import nn as pyg

from sepool_experiments.models.graphs.model import start
from sepool_experiments.models.parts.neighbourhoods import pool_nodes


def layers_of(pool, conv):
    """PyG's pooling and convolution with the weights of ours."""
    theirs, gcn = pyg.ASAPooling(HIDDEN, 0.25), pyg.GCNConv(HIDDEN, HIDDEN)
    lines = theirs.gnn_score
    pairs = (
        (theirs.lin, pool.query),
        (lines.lin1, pool.near),
        (lines.lin2, pool.centre),
        (lines.lin3, pool.own),
    )
    for line, mine in pairs:
        line.weight.data = mine.weight[0].t()
        if mine.bias is not None:
            line.bias.data = mine.bias[0]
    theirs.att.weight.data = torch.cat([pool.att_dst.weight[0], pool.att_src.weight[0]]).t()
    theirs.att.bias.data = pool.att_dst.bias[0]
    torch.nn.init.ones_(theirs.select.weight)  # below 0, PyG would keep the least fit
    gcn.lin.weight.data, gcn.bias.data = conv.linear.weight[0].t(), conv.linear.bias[0]
    return theirs, gcn


@pytest.mark.parametrize("readout", ["sum", "mean"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_equals_pyg_for_the_same_weights(readout):
    store = store_of(random_set())
    batch, model = batch_of(store), build("ASAP", store, extra=(("readout", readout),))
    read = pyg.global_mean_pool if readout == "mean" else pyg.global_add_pool
    plain = without_padding(batch)
    x = start(model.convs[0], batch, relu=True)[: len(plain.batch)]
    edges, weight = plain.edges, torch.ones(plain.edges.size(1))  # without any, PyG drops them
    place, readouts = plain.batch, []
    pools = (model.pool, model.pool_again, model.pool_last)
    for i, (pool, conv) in enumerate(zip(pools, model.convs, strict=True)):
        theirs, gcn = layers_of(pool, model.convs[1] if i == 0 else conv)
        if i:
            x = gcn(x, edges, weight).relu()
        x, edges, weight, place, _ = theirs(x, edges, weight, place)
        readouts.append(read(x, place, plain.graphs))
    expected = torch.cat(readouts, 1)
    assert expected[:, -HIDDEN:].abs().max() > 0.01
    torch.testing.assert_close(model.embed(batch)[: plain.graphs], expected, atol=1e-5, rtol=1e-4)


def test_what_is_pooled_has_no_loops_and_a_quarter_of_the_nodes():
    graphs = random_set()
    store = store_of(graphs)
    batch, model = batch_of(store), build("ASAP", store)
    pooled = pool_nodes(model.pool, start(model.convs[0], batch, relu=True), batch, NODES)
    assert pooled.mask.sum(1)[: len(graphs.y)].tolist() == (-(-graphs.nodes // 4)).tolist()
    assert (pooled.adjacency.diagonal(dim1=1, dim2=2) == 0).all()
    torch.testing.assert_close(pooled.adjacency, pooled.adjacency.transpose(1, 2))
