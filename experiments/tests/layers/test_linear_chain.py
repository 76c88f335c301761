"""Chains of linear layers of replicas against a loop over nodes."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.kernels.registry import interpreted
from sepool_experiments.layers import linear_chain as chains
from sepool_experiments.layers.feature_table import FeatureTable

REPLICAS, ROWS, ROWS_OF_TABLE = 2, 6, 5  # nodes of a replica, and rows of the table
PTR = torch.tensor([0, 2, 2, 6, 9, 11, 12])  # three clusters a replica
ASSIGNMENT = torch.repeat_interleave(torch.arange(6), PTR.diff())
NUM_VALID = torch.tensor([6, 6]), torch.tensor([3, 3])


@pytest.fixture
def case():
    """Two layers, a table and the rows of the nodes in it."""
    generator = torch.Generator().manual_seed(0)

    def draw(*size):
        return torch.randn(*size, generator=generator)

    two = [(draw(REPLICAS, 3, 4), draw(REPLICAS, 4)), (draw(REPLICAS, 4, 2), draw(REPLICAS, 2))]
    rows = torch.randint(0, ROWS_OF_TABLE, (REPLICAS * ROWS,), generator=generator)
    return two, draw(ROWS_OF_TABLE, 3), rows


def loop(two, x):
    """The last layer without its ReLU, of every node."""
    outs = []
    for node, row in enumerate(x):
        for i, (weight, bias) in enumerate(two):
            row = (row.relu() if i else row) @ weight[node // ROWS] + bias[node // ROWS]
        outs.append(row)
    return torch.stack(outs)


@pytest.mark.parametrize("sorted_table", [False, True])
def test_linear_chain_equals_loop(case, sorted_table):
    two, table, rows = case
    expected = loop(two, table[rows])
    if sorted_table:
        table = FeatureTable.of(table, torch.arange(ROWS_OF_TABLE))
    linear = chains.linear_chain(table, two, NUM_VALID[0], rows, relu=False)
    torch.testing.assert_close(linear, expected)
    torch.testing.assert_close(chains.linear_chain(table, two, NUM_VALID[0], rows), expected.relu())


@pytest.mark.parametrize("merged", [False, True])
def test_pooled_linear_chain_equals_loop(case, merged):
    two, table, rows = case
    multiplicity = torch.arange(1.0, ROWS_OF_TABLE + 1) if merged else None
    hidden = loop(two, table[rows]).relu()
    hidden = hidden * multiplicity[rows].unsqueeze(1) if merged else hidden
    expected = torch.zeros(6, 2).index_add(0, ASSIGNMENT, hidden)
    found = chains.pooled_linear_chain(table, two, NUM_VALID, PTR, ASSIGNMENT, rows, multiplicity)
    torch.testing.assert_close(found, expected)


def test_chain_kernel_needs_tables_and_32_bit_offsets(case):
    two, table, rows = case
    sorted_table = FeatureTable.of(table, torch.arange(ROWS_OF_TABLE))
    with interpreted():
        assert chains.has_chain_kernel(table, None, two, 12)
        assert chains.has_chain_kernel(sorted_table, rows, two, 12)
        assert not chains.has_chain_kernel(table, rows, two, 12)
        assert chains.has_chain_kernel(table, None, two, REPLICAS * (2**29 - 1))
        assert not chains.has_chain_kernel(table, None, two, REPLICAS * 2**29)  # four numbers each
