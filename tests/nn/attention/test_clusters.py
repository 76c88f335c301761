"""ClusterAttention against the sums of its docstring."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from tests.nn.graphs import dense_assignment, random_batch

import sepool
from sepool.nn import ClusterAttention


def plain_attention(layer, x, levels):
    """One query, cluster and head at a time."""
    s = torch.eye(len(x), dtype=x.dtype)
    for level in range(1, layer.level + 1):
        s = dense_assignment(levels, level) @ s
    means = s @ x / s.sum(1, keepdim=True)
    rows, graph = (x, levels.batch(0)) if layer.queries == "nodes" else (means, None)
    graph = levels.batch(layer.level) if graph is None else graph

    def head(linear, row, h):
        return linear(row)[h * layer.width : (h + 1) * layer.width]

    out = torch.zeros(len(rows), layer.channels, dtype=x.dtype)
    for i, row in enumerate(rows):
        for h in range(layer.heads):
            above, below = 0, 0
            for c in (levels.batch(layer.level) == graph[i]).nonzero().flatten().tolist():
                score = head(layer.query, row, h) @ head(layer.key, means[c], h)
                w = (score / layer.width**0.5).exp()
                if not layer.kernel:
                    above, below = above + w * head(layer.value, means[c], h), below + w
                    continue
                for t in s[c].nonzero().flatten().tolist():
                    feature = F.elu(head(layer.node_query, row, h)) + 1
                    k = feature @ (F.elu(head(layer.node_key, x[t], h)) + 1)
                    above, below = above + w * k * head(layer.value, x[t], h), below + w * k
            out[i, h * layer.width : (h + 1) * layer.width] = above / below
    return layer.out(out)


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("queries", ["nodes", "clusters"])
@pytest.mark.parametrize("level", [1, 2])
def test_cluster_attention_forward_is_the_plain_formula(level, queries, kernel):
    torch.manual_seed(0)
    batch = random_batch(num_graphs=2)
    levels = sepool.hierarchy(batch)
    layer = ClusterAttention(4, 2, level, queries=queries, kernel=kernel).double()
    x = torch.randn(batch.num_nodes, 4, dtype=torch.float64)
    torch.testing.assert_close(layer(x, levels), plain_attention(layer, x, levels))
    torch.testing.assert_close(layer(x, levels, 20, 9), layer(x, levels))


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("queries", ["nodes", "clusters"])
def test_cluster_attention_gradients_pass_gradcheck(queries, kernel):
    torch.manual_seed(0)
    batch = random_batch(num_graphs=2)
    levels = sepool.hierarchy(batch)
    layer = ClusterAttention(4, 2, queries=queries, kernel=kernel).double()
    x = torch.randn(batch.num_nodes, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: layer(x, levels), x)


def test_cluster_attention_bad_input_is_refused_in_one_line():
    batch = random_batch()
    levels, x = sepool.hierarchy(batch), torch.randn(batch.num_nodes, 4)
    with pytest.raises(ValueError, match="heads must divide channels, got 3 heads of 4 channels"):
        ClusterAttention(4, 3)
    with pytest.raises(ValueError, match="queries must be one of nodes, clusters, got 'edges'"):
        ClusterAttention(4, queries="edges")
    with pytest.raises(ValueError, match="level must be at least 1, got 0"):
        ClusterAttention(4, level=0)
    with pytest.raises(ValueError, match=r"height 3; add trees with AddCodingTree\(height=4\)"):
        ClusterAttention(4, level=4)(x, levels)
    with pytest.raises(TypeError, match=r"levels must be what sepool.hierarchy\(data\) gives"):
        ClusterAttention(4)(x, None)
    with pytest.raises(ValueError, match=r"rows, but the trees have"):
        ClusterAttention(4)(x[:-1], levels)
    with pytest.raises(ValueError, match="max_clusters must be at least"):
        ClusterAttention(4)(x, levels, max_clusters=1)
