"""Linear layers of replicas, node by node; `test_kernels.py` has what a GPU does for them."""

from __future__ import annotations

import pytest
import torch

from sepool.nn import layers
from sepool.nn.feature_table import FeatureTable

REPLICAS, ROWS, KINDS = 2, 6, 5  # nodes of a replica, and rows of the table
PTR = torch.tensor([0, 2, 2, 6, 9, 11, 12])  # three clusters a replica
ASSIGNMENT = torch.repeat_interleave(torch.arange(6), PTR.diff())
REAL = torch.tensor([6, 6]), torch.tensor([3, 3])


@pytest.fixture
def case():
    """Two layers, a table and the rows of the nodes in it."""
    generator = torch.Generator().manual_seed(0)

    def draw(*size):
        return torch.randn(*size, generator=generator)

    two = [(draw(REPLICAS, 3, 4), draw(REPLICAS, 4)), (draw(REPLICAS, 4, 2), draw(REPLICAS, 2))]
    source = torch.randint(0, KINDS, (REPLICAS * ROWS,), generator=generator)
    return two, draw(KINDS, 3), source


def one_by_one(two, x):
    """The last layer without its ReLU, of every node."""
    outs = []
    for node, row in enumerate(x):
        for i, (weight, bias) in enumerate(two):
            row = (row.relu() if i else row) @ weight[node // ROWS] + bias[node // ROWS]
        outs.append(row)
    return torch.stack(outs)


@pytest.mark.parametrize("sorted_table", [False, True])
def test_rows(case, sorted_table):
    two, table, source = case
    wanted = one_by_one(two, table[source])
    if sorted_table:
        table = FeatureTable.of(table, torch.arange(KINDS))
    linear = layers.layers_rows(table, two, REAL[0], source, relu=False)
    torch.testing.assert_close(linear, wanted)
    torch.testing.assert_close(layers.layers_rows(table, two, REAL[0], source), wanted.relu())


@pytest.mark.parametrize("counted", [False, True])
def test_clusters(case, counted):
    two, table, source = case
    copies = torch.arange(1.0, KINDS + 1) if counted else None
    hidden = one_by_one(two, table[source]).relu()
    hidden = hidden * copies[source].unsqueeze(1) if counted else hidden
    wanted = torch.zeros(6, 2).index_add(0, ASSIGNMENT, hidden)
    found = layers.layers_pool(table, two, REAL, PTR, ASSIGNMENT, source, copies)
    torch.testing.assert_close(found, wanted)


def test_kernels_count_rows_in_32_bits_and_gather_from_tables_alone(case, monkeypatch):
    two, table, source = case
    monkeypatch.setattr(layers, "has_kernel", lambda x, times: True)
    sorted_table = FeatureTable.of(table, torch.arange(KINDS))
    assert layers.has_layer_kernel(table, None, two, 12)
    assert layers.has_layer_kernel(sorted_table, source, two, 12)
    assert not layers.has_layer_kernel(table, source, two, 12)
    assert layers.has_layer_kernel(table, None, two, REPLICAS * (2**29 - 1))
    assert not layers.has_layer_kernel(table, None, two, REPLICAS * 2**29)  # four numbers each
