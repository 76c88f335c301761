"""Tables of features: the same numbers in another order, and where rows end."""

from __future__ import annotations

import pytest
import torch

from sepool.nn.feature_table import ALIGNED, FeatureTable
from sepool.nn.ops import rows_at


@pytest.mark.parametrize("width", [1, 16, 21, 40])
def test_rows_and_where_they_end(width):
    generator = torch.Generator().manual_seed(width)
    often = torch.rand(width, generator=generator) ** 3  # features that many or few have
    x = torch.randn(30, width, generator=generator)
    x = torch.where(torch.rand(30, width, generator=generator) < often, x, 0.0)
    x[7] = 0.0
    graph = torch.arange(30) // 4
    table = FeatureTable.of(x, graph)
    source = torch.randint(0, 30, (50,), generator=generator)
    assert torch.equal(rows_at(table, source), x[source])
    assert table.rows.is_contiguous()
    assert table.rows.size(1) % ALIGNED == 0
    assert not table.rows[:, width:].any()
    for row, reach in zip(table.rows, table.reach.tolist(), strict=True):
        assert not row[reach:].any()
        assert reach == 0 or row[reach - 1] != 0
    have = [len({int(g) for g in graph[x[:, j] != 0]}) for j in table.feature.tolist()]
    assert have == sorted(have, reverse=True)
    assert table.reach[7] == 0


def test_a_table_alone_has_no_rows_for_nodes():
    table = FeatureTable.of(torch.eye(3), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(AssertionError, match="source"):
        rows_at(table, None)
