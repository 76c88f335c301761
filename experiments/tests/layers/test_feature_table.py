"""Tables of features."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.layers.feature_table import ALIGNED, FeatureTable
from sepool_experiments.layers.segments import rows_at


@pytest.mark.parametrize("width", [1, 16, 21, 40])
def test_table_orders_columns_by_frequency(width):
    generator = torch.Generator().manual_seed(width)
    often = torch.rand(width, generator=generator) ** 3  # features that many or few have
    x = torch.randn(30, width, generator=generator)
    x = torch.where(torch.rand(30, width, generator=generator) < often, x, 0.0)
    x[7] = 0.0
    graph = torch.arange(30) // 4
    table = FeatureTable.of(x, graph)
    rows = torch.randint(0, 30, (50,), generator=generator)
    assert torch.equal(rows_at(table, rows), x[rows])
    assert table.rows.is_contiguous()
    assert table.rows.size(1) % ALIGNED == 0
    assert not table.rows[:, width:].any()
    for row, extent in zip(table.rows, table.extent.tolist(), strict=True):
        assert not row[extent:].any()
        assert extent == 0 or row[extent - 1] != 0
    have = [len({int(g) for g in graph[x[:, j] != 0]}) for j in table.feature_of_column.tolist()]
    assert have == sorted(have, reverse=True)
    assert table.extent[7] == 0


def test_table_without_row_index_is_refused():
    table = FeatureTable.of(torch.eye(3), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(AssertionError, match="row index"):
        rows_at(table, None)
