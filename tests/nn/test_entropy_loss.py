"""structural_entropy_loss against the entropy of hard trees, and its derivatives."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from tests.nn.graphs import dense_adjacency, dense_assignment, random_batch, random_graph

import sepool
from sepool.nn import structural_entropy_loss


def hard_levels(levels):
    """One-hot assignments to all levels but the root."""
    return [dense_assignment(levels, level).t() for level in range(1, levels.height)]


@pytest.mark.parametrize("height", [1, 2, 3, 4])
@pytest.mark.parametrize("options", [{}, {"weighted": True, "loops": True}], ids=str)
def test_entropy_loss_of_a_hard_tree_is_its_structural_entropy(options, height):
    data = random_graph(24, 1, share=0.3, **options)
    data = sepool.AddCodingTree(height, ties="structure")(data)
    levels = sepool.hierarchy(data)
    weight = data.edge_weight.double() if "edge_weight" in data else None
    clusters = [torch.arange(24)]
    for level in range(1, height):
        clusters.append(levels.assignment(level)[clusters[-1]])
    graph = sepool.as_graph(adjacency=dense_adjacency(data).fill_diagonal_(0).numpy())
    expected = sepool.structural_entropy(graph, [labels.tolist() for labels in clusters[1:]])
    out = structural_entropy_loss(hard_levels(levels), data.edge_index, weight, 24)
    assert out.item() == pytest.approx(expected, abs=1e-6)


def dense_entropy(assignments, a):
    """The formula of the docstring on dense matrices."""
    degrees = a.sum(1)
    total = degrees.sum()
    c, v, entropy = torch.eye(len(a), dtype=a.dtype), degrees, 0
    for s in [*assignments, torch.ones(assignments[-1].size(1), 1, dtype=a.dtype)]:
        g = v - (c.t() @ a @ c).diagonal()
        v_above = s.t() @ v
        entropy = entropy + g @ (s @ v_above.log2() - v.log2()) / total
        c, v = c @ s, v_above
    return entropy


def test_entropy_loss_of_soft_levels_is_the_dense_formula():
    torch.manual_seed(0)
    data = random_graph(12, 0, share=0.5, weighted=True)
    ring = torch.stack([torch.arange(12), torch.arange(12).roll(1)])  # no isolated node
    data.edge_index = torch.cat([data.edge_index, ring, ring.flip(0)], 1)
    data.edge_weight = torch.cat([data.edge_weight, torch.ones(24)]).double()
    soft = [torch.randn(12, 5).double().softmax(1), torch.randn(5, 3).double().softmax(1)]
    out = structural_entropy_loss(soft, data.edge_index, data.edge_weight)
    torch.testing.assert_close(out, dense_entropy(soft, dense_adjacency(data)))


@pytest.mark.parametrize("graph", [random_graph(9, 0, share=0.5), random_batch(num_graphs=2)])
def test_entropy_loss_gradients_pass_gradcheck(graph):
    torch.manual_seed(0)
    scores = [torch.randn(graph.num_nodes, 4), torch.randn(4, 2)]
    scores = [score.double().requires_grad_() for score in scores]
    weight = torch.rand(graph.num_edges).double().requires_grad_()

    def run(weight, *scores):
        soft = [score.softmax(1) for score in scores]
        return structural_entropy_loss(soft, graph.edge_index, weight)

    assert torch.autograd.gradcheck(run, (weight, *scores))


def test_entropy_loss_is_lowered_by_gradient_descent_to_the_communities():
    torch.manual_seed(0)
    block = torch.ones(6, 6) - torch.eye(6)
    a = torch.block_diag(block, block, block)
    a[0, 6] = a[6, 0] = a[7, 12] = a[12, 7] = 1
    edges = a.nonzero().t()
    scores = torch.nn.Parameter(0.1 * torch.randn(18, 3))
    optimizer = torch.optim.Adam([scores], 0.1)
    for _ in range(200):
        loss = structural_entropy_loss([scores.softmax(1)], edges)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = F.one_hot(torch.arange(3).repeat_interleave(6)).float()
    assert loss.item() == pytest.approx(structural_entropy_loss([best], edges).item(), abs=0.01)


def test_entropy_loss_empty_clusters_and_graphs_are_finite():
    empty = torch.zeros(2, 0, dtype=torch.long)
    assert structural_entropy_loss([torch.ones(3, 1)], empty).item() == 0
    pair = torch.tensor([[0, 1], [1, 0]])
    hard = torch.tensor([[1.0, 0], [1, 0]], requires_grad=True)
    loss = structural_entropy_loss([hard], pair)
    loss.backward()
    assert loss.item() == pytest.approx(1)
    assert hard.grad.isfinite().all()


def test_entropy_loss_bad_input_is_refused_in_one_line():
    edges, soft = torch.tensor([[0, 1], [1, 0]]), torch.full((2, 2), 0.5)
    for error, message, args in (
        (TypeError, r"one matrix a level: \[assignment\]", (soft, edges)),
        (ValueError, r"edge_index must have the shape \(2, m\), got \(2,\)", ([soft], edges[0])),
        (ValueError, r"edge_weight must have the shape \(2,\)", ([soft], edges, torch.ones(3))),
        (ValueError, r"pass num_nodes", ([], edges)),
        (ValueError, r"level 1 must have the shape \(3, clusters\)", ([soft], edges, None, 3)),
        (ValueError, r"level 2 must have the shape \(2, clusters\)", ([soft, soft[:1]], edges)),
        (ValueError, r"floating-point shares, got torch.int64", ([soft.long()], edges)),
    ):
        with pytest.raises(error, match=message):
            structural_entropy_loss(*args)
