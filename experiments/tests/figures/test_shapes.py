from __future__ import annotations

import numpy as np

import sepool
from sepool_experiments.figures.shapes import grid, pick_level, ring


def test_ring_and_grid_have_equal_edge_lengths():
    whole = ring()
    assert whole.points.shape == (200, 2)
    assert np.allclose(np.linalg.norm(whole.points, axis=1), 1)
    lengths = np.linalg.norm(np.diff(whole.points[whole.edges], axis=1), axis=2)
    assert np.allclose(lengths, lengths[0], atol=1e-6)
    whole = grid()
    assert (len(whole.points), len(whole.edges)) == (900, 2 * 30 * 29)
    lengths = np.linalg.norm(np.diff(whole.points[whole.edges], axis=1), axis=2)
    assert np.allclose(lengths, 1 / 29, atol=1e-6)


def test_pick_level_is_closest_of_all():
    shape = ring(37)
    pick = pick_level(shape)
    for height in range(2, 8):
        tree = sepool.coding_tree(shape.edges, height)
        for level in range(1, height):
            other = abs(tree.num_clusters(level) / 37 - 0.25)
            assert abs(pick.clusters / 37 - 0.25) <= other


def test_pick_level_random_has_sizes_of_best():
    best, mixed = pick_level(ring(40)), pick_level(ring(40), "random")
    assert (best.level, best.tree.counts) == (mixed.level, mixed.tree.counts)
    sizes = [np.sort(pick.tree.cluster_sizes(pick.level)) for pick in (best, mixed)]
    assert np.array_equal(*sizes)
    assert mixed.tree.entropy > best.tree.entropy + 0.1
