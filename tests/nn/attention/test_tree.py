"""tree_distance and TreeAttention against plain loops."""

from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import random_batch

import sepool
from sepool.nn import TreeAttention, tree_distance


def ancestors(levels):
    """Clusters of every node, level by level."""
    rows = [torch.arange(levels.num_nodes)]
    for level in range(1, levels.height + 1):
        rows.append(levels.assignment(level)[rows[-1]])
    return torch.stack(rows)


def plain_distance(levels, i, j):
    paths = ancestors(levels)
    common = [k for k in range(levels.height + 1) if paths[k, i] == paths[k, j]]
    return min(common, default=levels.height + 1)


def test_tree_distance_of_pairs_is_the_level_of_the_common_ancestor():
    levels = sepool.hierarchy(random_batch(num_graphs=3))
    pairs = torch.cartesian_prod(*2 * [torch.arange(levels.num_nodes)]).t()
    expected = [plain_distance(levels, i, j) for i, j in pairs.t().tolist()]
    assert tree_distance(levels, pairs).tolist() == expected
    assert set(expected) == {0, 1, 2, 3, 4}


def test_tree_distance_dense_has_all_pairs_and_padding():
    batch = random_batch(num_graphs=3)
    levels = sepool.hierarchy(batch)
    out = tree_distance(levels)
    sizes = batch.ptr.diff().tolist()
    assert out.shape == (3, max(sizes), max(sizes))
    for graph, size in enumerate(sizes):
        nodes = torch.arange(size) + batch.ptr[graph]
        pairs = torch.cartesian_prod(nodes, nodes).t()
        assert torch.equal(out[graph, :size, :size].flatten(), tree_distance(levels, pairs))
        assert (out[graph, size:] == 4).all()
        assert (out[graph, :, size:] == 4).all()
    assert torch.equal(tree_distance(levels, max_nodes=max(sizes)), out)


def plain_attention(layer, x, levels):
    """One graph, one head and one node at a time."""
    qkv = (x @ layer.qkv.weight.t() + layer.qkv.bias).view(len(x), 3, layer.heads, layer.width)
    rows = torch.zeros(len(x), layer.heads, layer.width, dtype=x.dtype)
    for i in range(len(x)):
        same = [j for j in range(len(x)) if plain_distance(levels, i, j) <= levels.height]
        level = [min(plain_distance(levels, i, j), layer.height) for j in same]
        for head in range(layer.heads):
            q, k, v = qkv[i, 0, head], qkv[same, 1, head], qkv[same, 2, head]
            score = k @ q / layer.width**0.5 + layer.bias[level, head]
            rows[i, head] = score.softmax(0) @ v
    return rows.flatten(1) @ layer.out.weight.t() + layer.out.bias


@pytest.mark.parametrize("height", [2, 3])
def test_tree_attention_forward_is_the_plain_formula(height):
    torch.manual_seed(0)
    batch = random_batch(num_graphs=2)
    levels, layer = sepool.hierarchy(batch), TreeAttention(6, 2, height).double()
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(batch.num_nodes, 6, dtype=torch.float64)
    torch.testing.assert_close(layer(x, levels), plain_attention(layer, x, levels))
    torch.testing.assert_close(layer(x, levels, 15), layer(x, levels))


def test_tree_attention_gradients_pass_gradcheck():
    torch.manual_seed(0)
    batch = random_batch(num_graphs=2)
    levels, layer = sepool.hierarchy(batch), TreeAttention(4, 2).double()
    x = torch.randn(batch.num_nodes, 4, dtype=torch.float64, requires_grad=True)

    def run(x, bias):
        return torch.func.functional_call(layer, {"bias": bias}, (x, levels))

    bias = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (x, bias))


def test_tree_attention_dropout_is_off_in_evaluation():
    torch.manual_seed(0)
    batch = random_batch()
    levels, layer = sepool.hierarchy(batch), TreeAttention(4, dropout=0.5)
    x = torch.randn(batch.num_nodes, 4)
    assert not torch.allclose(layer(x, levels), layer(x, levels))
    layer.eval()
    torch.testing.assert_close(layer(x, levels), layer(x, levels))


def test_tree_attention_bad_input_is_refused_in_one_line():
    batch = random_batch()
    levels, x = sepool.hierarchy(batch), torch.randn(batch.num_nodes, 4)
    with pytest.raises(ValueError, match="heads must divide channels, got 3 heads of 4 channels"):
        TreeAttention(4, 3)
    with pytest.raises(ValueError, match=r"dropout must be at least 0 and below 1, got 1\.0"):
        TreeAttention(4, dropout=1.0)
    with pytest.raises(ValueError, match=r"height 3; add trees with AddCodingTree\(height=4\)"):
        TreeAttention(4, height=4)(x, levels)
    with pytest.raises(TypeError, match=r"levels must be what sepool.hierarchy\(data\) gives"):
        TreeAttention(4)(x, None)
    with pytest.raises(ValueError, match=r"rows, but the trees have"):
        TreeAttention(4)(x[:-1], levels)
    with pytest.raises(ValueError, match=r"x must have the shape \(nodes, 8\)"):
        TreeAttention(8)(x, levels)
    with pytest.raises(ValueError, match=r"pairs must have the shape \(2, p\), got \(3,\)"):
        tree_distance(levels, torch.arange(3))
    with pytest.raises(ValueError, match=r"pairs must be numbers of nodes, got torch\.float32"):
        tree_distance(levels, torch.zeros(2, 3))
    with pytest.raises(ValueError, match="max_nodes must be at least"):
        tree_distance(levels, max_nodes=3)
