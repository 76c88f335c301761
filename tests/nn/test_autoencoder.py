from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import dense_assignment, random_batch, random_graph

from sepool.nn import SEPAutoencoder
from sepool.pyg.hierarchy import NoTreeError, hierarchy


def test_all_that_passes_are_the_clusters():
    """The decoder sees ``S^T S enc(X)``."""
    batch, model = random_batch(0), SEPAutoencoder(5, 8, dense=True)
    s = dense_assignment(hierarchy(batch), 1).float()
    kept, passed = [], []
    model.denses[0].register_forward_pre_hook(lambda _, x: kept.append(x[0]))
    model.denses[1].register_forward_hook(lambda _, x, y: passed.append(x[0]))
    model.convs[1].register_forward_hook(lambda _, x, y: kept.append(y))
    assert model(batch).shape == batch.x.shape
    torch.testing.assert_close(kept[1], s @ kept[0].relu())
    torch.testing.assert_close(passed[0], s.t() @ model.denses[0](kept[1]))


def test_higher_levels():
    batch, model = random_batch(4), SEPAutoencoder(5, 8, level=2, dense=True)
    sizes = []
    model.denses[0].register_forward_pre_hook(lambda _, x: sizes.append(len(x[0])))
    assert model(batch).shape == batch.x.shape
    assert sizes == [hierarchy(batch).num_clusters(2)]
    with pytest.raises(ValueError, match=r"to level 4, the trees have height 3; .*height=5"):
        SEPAutoencoder(5, level=4)(batch)
    with pytest.raises(ValueError, match="level must be at least 1, got 0"):
        SEPAutoencoder(5, level=0)


def test_bad_input():
    model = SEPAutoencoder(5)
    model.reset_parameters()
    with pytest.raises(NoTreeError, match="AddCodingTree"):
        model(random_graph(5, 0))
    with pytest.raises(ValueError, match="the model takes 2 features a node, got 5"):
        SEPAutoencoder(2)(random_batch(0))
    with pytest.raises(ValueError, match="layers must be at least 1, got 0"):
        SEPAutoencoder(2, layers=0)
    with pytest.raises(ValueError, match="reduce must be one of sum, mean, max, got 'all'"):
        SEPAutoencoder(2, reduce="all")
