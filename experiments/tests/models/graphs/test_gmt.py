"""GMT: attention is that of PyG's blocks."""

from __future__ import annotations

import pytest
import torch
from experiments.tests.models.toys import (
    HIDDEN,
    Dense,
    batch_of,
    build,
    random_set,
    store_of,
    without_padding,
)
from torch_geometric.nn.aggr.utils import MultiheadAttentionBlock

from sepool_experiments.models.graphs.gmt import HEADS, Attention
from sepool_experiments.models.graphs.model import side_by_side


def block_of(mine: Attention, keys=True) -> MultiheadAttentionBlock:
    """PyG's block with the weights of ours; keys made elsewhere are taken as they are."""
    theirs = MultiheadAttentionBlock(HIDDEN, HEADS, layer_norm=False)

    def weight(layer):
        return layer.weight.detach().view(HIDDEN, HIDDEN).t(), layer.bias.detach().view(-1)

    same = torch.eye(HIDDEN), torch.zeros(HIDDEN)
    inputs = [weight(mine.query), *(weight(m) if keys else same for m in (mine.key, mine.value))]
    theirs.attn.in_proj_weight.data = torch.cat([w for w, _ in inputs])
    theirs.attn.in_proj_bias.data = torch.cat([b for _, b in inputs])
    theirs.attn.out_proj.weight.data, theirs.attn.out_proj.bias.data = weight(mine.out)
    theirs.lin.weight.data, theirs.lin.bias.data = weight(mine.last)
    return theirs


def test_attention_equals_pyg():
    mine, x, y = Attention(HIDDEN), torch.randn(3, 2, HIDDEN), torch.randn(3, 5, HIDDEN)
    torch.testing.assert_close(mine(x, y), block_of(mine)(x, y))
    with pytest.raises(ValueError, match="a multiple of 4 heads, got 6"):
        Attention(6)


def test_model_is_pooling_self_attention_pooling():
    store = store_of(random_set())
    batch, model = batch_of(store), build("GMT", store)
    seeds, last = model.seeds
    pool, between, join = model.pool, model.between, model.join
    x = model.narrow(side_by_side(model.convolve(batch))).relu()
    keys, values = (Dense.of(batch, conv(x, batch.operators[0])) for conv in (pool.key, pool.value))
    count = without_padding(batch).graphs
    first = block_of(pool, keys=False)
    out, _ = first.attn(seeds.expand(count, -1, -1), keys.x, values.x, ~keys.mask)
    out = out + seeds
    out = out + first.lin(out).relu()
    out = block_of(between)(out, out)
    out = block_of(join)(last.expand(count, -1, -1), out).squeeze(1)
    embedded = model.embed(batch)
    assert embedded.shape == (batch.levels.num_graphs, HIDDEN)
    torch.testing.assert_close(embedded[:count], out, atol=1e-5, rtol=1e-4)
