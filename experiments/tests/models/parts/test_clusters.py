"""Soft clusters: sparse nodes pool as PyG's dense operators do, losses included."""

from __future__ import annotations

import pytest
import torch
from experiments.tests.models.toys import NODES, Dense, batch_of, build, random_set, store_of
from torch_geometric.nn import dense_diff_pool, dense_mincut_pool

from sepool_experiments.figures.clusters import first_scores
from sepool_experiments.models.graphs import diffpool, mincutpool
from sepool_experiments.models.graphs.model import padded_graph_mask, start
from sepool_experiments.models.parts import clusters, dense


@pytest.fixture
def batch():
    return batch_of(store_of(random_set()), [list(range(2, 12))])  # all have edges


def dense_of(batch, *rows):
    graphs = [Dense.of(batch, row) for row in rows]
    return *(graph.x for graph in graphs), graphs[0].adjacency, graphs[0].mask


def test_diffpool_equals_pyg(batch):
    x, logits = torch.randn(batch.levels.num_nodes, 6), torch.randn(batch.levels.num_nodes, 4)
    s, nodes = logits.softmax(1), clusters.Nodes(batch, NODES)
    graph_mask = padded_graph_mask(batch)
    pooled = nodes.pool(s, x)
    dense_x, dense_s, adjacency, mask = dense_of(batch, x, logits)
    out, out_adjacency, link, entropy = dense_diff_pool(dense_x, adjacency, dense_s, mask)
    count = len(out)
    torch.testing.assert_close(pooled.x[:count], out, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(pooled.adjacency[:count], out_adjacency, atol=1e-5, rtol=1e-5)
    degrees, overlap = nodes.total(nodes.degree), pooled.overlap.square().sum((1, 2))
    distance = degrees - 2 * clusters.trace(pooled.adjacency) + overlap
    size = torch.tensor([mask.size(1)])
    entropies = nodes.total(diffpool.entropy(s))
    losses = diffpool.penalty(distance, entropies, size, graph_mask)
    torch.testing.assert_close(losses[0], link + entropy)


def test_diffpool_adds_the_losses_of_both_poolings(batch):
    model = build("DiffPool", store_of(random_set()))
    model(batch)
    z, logits = start(model.convs[0], batch, relu=True), start(model.assigns[0], batch, relu=False)
    dense_z, dense_s, adjacency, mask = dense_of(batch, z, logits)
    x, a, *losses = dense_diff_pool(dense_z, adjacency, dense_s, mask)
    # Layers of one replica take any number of graphs.
    logits, z = (clusters.convolve(c, x, a) for c in (model.assigns[1], model.convs[1]))
    _, _, *more = dense_diff_pool(z.relu(), a, logits)
    torch.testing.assert_close(model.auxiliary[0], sum(losses) + sum(more))
    model.eval()(batch)
    assert model.auxiliary is None


def test_mincut_equals_pyg(batch):
    x, logits = torch.randn(batch.levels.num_nodes, 6), torch.randn(batch.levels.num_nodes, 4)
    s, nodes = logits.softmax(1), clusters.Nodes(batch, NODES)
    graph_mask = padded_graph_mask(batch)
    _, a, overlap = nodes.pool(s, x)
    weight = nodes.total(nodes.degree * s.square().sum(1, keepdim=True))
    dense_x, dense_s, adjacency, mask = dense_of(batch, x, logits)
    _, out_adjacency, cut, orthogonality = dense_mincut_pool(dense_x, adjacency, dense_s, mask)
    count = len(out_adjacency)
    torch.testing.assert_close(
        clusters.mean_over(mincutpool.mincut_loss(a, weight), graph_mask)[0], cut
    )
    torch.testing.assert_close(
        clusters.mean_over(dense.orthogonality_loss(overlap), graph_mask)[0], orthogonality
    )
    torch.testing.assert_close(dense.normalise(a, loops=False)[:count], out_adjacency)


def test_mincut_adds_the_losses_of_both_poolings(batch):
    model = build("MinCutPool", store_of(random_set()))
    model(batch)
    z = start(model.convs[0], batch, relu=True)
    dense_z, dense_s, adjacency, mask = dense_of(batch, z, model.assigns[0](z))
    x, a, *losses = dense_mincut_pool(dense_z, adjacency, dense_s, mask)
    x = clusters.convolve(model.convs[1], x, a).relu()
    logits = model.assigns[1](x.flatten(0, 1)).view(len(x), x.size(1), -1)
    _, _, *more = dense_mincut_pool(x, a, logits)
    torch.testing.assert_close(model.auxiliary[0], sum(losses) + sum(more))


def test_well_separated_clusters_have_the_lowest_cut():
    """Two triangles: clusters that are the triangles cut nothing."""
    triangle = torch.ones(3, 3) - torch.eye(3)
    a, s = torch.block_diag(triangle, triangle)[None], torch.eye(2).repeat_interleave(3, 0)[None]
    pooled = clusters.pool_clusters(s, s, a)
    assert mincutpool.mincut_loss(pooled.adjacency, a.sum((1, 2))).item() == pytest.approx(-1)
    assert dense.orthogonality_loss(pooled.overlap).item() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("name", ["DiffPool", "MinCutPool"])
def test_first_scores_are_those_that_nodes_are_pooled_by(name, batch, monkeypatch):
    used, pool = [], clusters.Nodes.pool
    monkeypatch.setattr(
        clusters.Nodes, "pool", lambda self, s, x: used.append(s) or pool(self, s, x)
    )
    model = build(name, store_of(random_set()))
    model(batch)
    scores = first_scores(model, batch)
    assert scores.min() < 0
    torch.testing.assert_close(scores.softmax(1), used[0])
