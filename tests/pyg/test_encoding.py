"""AddTreeEncoding against sums over the nodes of every cluster."""

from __future__ import annotations

import math

import pytest
import torch
from tests.nn.graphs import add_trees, random_batch, random_graph
from torch_geometric.data import Batch, Data

import sepool


def plain_encoding(data, levels):
    """The terms of the docstring, one node and level at a time."""
    n, weight = data.num_nodes, {}
    given = data.edge_weight if "edge_weight" in data else torch.ones(data.num_edges)
    for (i, j), w in zip(data.edge_index.t().tolist(), given.tolist(), strict=True):
        weight[i, j] = weight.get((i, j), 0) + w * (i != j)
    ancestors = [list(range(n))]
    for level in range(1, levels.height + 1):
        up = levels.assignment(level).tolist()
        ancestors.append([up[c] for c in ancestors[-1]])

    def degree(members, within):
        both = (w for (i, j), w in weight.items() if i in members and j in within)
        return sum(both)

    def log(a, b):
        return math.log2(a / b) if a and b else 0.0

    rows, everyone = [], set(range(n))
    for i in range(n):
        row, below = [], degree({i}, everyone)
        own = below
        graph = {j for j in range(n) if ancestors[-1][j] == ancestors[-1][i]}
        for level in range(1, levels.height + 1):
            members = {j for j in range(n) if ancestors[level][j] == ancestors[level][i]}
            volume = degree(members, everyone)
            share = log(volume, degree(graph, everyone))
            inside = degree({i}, members) / own if own else 0.0
            row += [math.log2(len(members)), share, inside, log(volume, below)]
            below = volume
        rows.append(row)
    return torch.tensor(rows)


@pytest.mark.parametrize("options", [{}, {"weighted": True, "loops": True}], ids=str)
def test_tree_encoding_is_the_plain_one(options):
    batch = random_batch(num_graphs=2, **options)
    expected = plain_encoding(batch, sepool.hierarchy(batch))
    torch.testing.assert_close(sepool.AddTreeEncoding()(batch).tree_pe, expected)


def test_tree_encoding_bits_of_paths_sum_to_the_one_dimensional_entropy():
    data = sepool.AddCodingTree(3)(random_graph(20, 0, share=0.3))
    pe = sepool.AddTreeEncoding()(data).tree_pe
    degree = torch.bincount(data.edge_index[0], minlength=20)
    bits = (pe[:, 3::4].sum(1) * degree).sum() / degree.sum()
    flat = -(degree / degree.sum()).xlogy(degree / degree.sum()).sum() / math.log(2)
    assert bits.item() == pytest.approx(flat.item(), rel=1e-5)


def test_tree_encoding_moves_along_with_the_nodes():
    add = sepool.AddCodingTree(3)
    for seed in range(5):
        edges = random_graph(14, seed).edge_index
        x = torch.eye(14)[torch.bincount(edges[0], minlength=14)]
        order = torch.randperm(14, generator=torch.Generator().manual_seed(seed))
        graph = add(Data(x=x, edge_index=edges))
        other = add(Data(x=x[order], edge_index=order.argsort()[edges]))
        first, second = (sepool.AddTreeEncoding()(data).tree_pe for data in (graph, other))
        torch.testing.assert_close(
            second.sort(0).values, first[order].sort(0).values, rtol=0, atol=1e-6
        )


def test_tree_encoding_of_a_batch_is_that_of_its_graphs():
    batch, add = random_batch(), sepool.AddTreeEncoding()
    alone = [add(data).tree_pe for data in batch.to_data_list()]
    torch.testing.assert_close(add(batch).tree_pe, torch.cat(alone))


def test_tree_encoding_without_a_name_is_appended_to_x():
    [data] = add_trees([random_graph(9, 0)], [(9, 4, 2, 1)])
    encoded = sepool.AddTreeEncoding(attr_name=None)(data)
    assert torch.equal(encoded.x[:, :5], data.x)
    assert torch.equal(encoded.x[:, 5:], sepool.AddTreeEncoding()(data).tree_pe)
    assert data.x.size(1) == 5
    del data.x
    data.num_nodes = 9
    assert sepool.AddTreeEncoding(attr_name=None)(data).x.shape == (9, 12)


def test_tree_encoding_isolated_nodes_have_finite_terms():
    data = Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=3)
    pe = sepool.AddTreeEncoding()(sepool.AddCodingTree(2)(data)).tree_pe
    assert pe.isfinite().all()


def test_tree_encoding_batches_with_the_loader():
    graphs = sepool.AddCodingTree(3, progress=False).apply_all([random_graph(9, i) for i in (0, 1)])
    batch = Batch.from_data_list([sepool.AddTreeEncoding()(data) for data in graphs])
    assert batch.tree_pe.shape == (18, 12)
    assert sepool.hierarchy(batch).height == 3


def test_tree_encoding_bad_input_is_refused_in_one_line():
    with pytest.raises(AttributeError, match="the data has no coding tree; add one with"):
        sepool.AddTreeEncoding()(random_graph(6, 0))
    with pytest.raises(TypeError, match="attr_name must name an attribute or be None"):
        sepool.AddTreeEncoding(3)
    with pytest.raises(ValueError, match="attr_name and attr are both 'tree'"):
        sepool.AddTreeEncoding("tree")
