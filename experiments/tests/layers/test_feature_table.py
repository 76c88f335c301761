"""Tables of features."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.layers import feature_table as tables
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


@pytest.mark.parametrize(
    ("x", "exact"),
    [
        (torch.eye(3), True),
        (torch.tensor([[2047.0, -1.5]]), True),
        (torch.tensor([[2049.0, 0.0]]), False),  # 12 bits
        (torch.tensor([[1 / 3, 0.0]]), False),
        (torch.tensor([[float("inf"), 0.0]]), False),
        (torch.tensor([[1.0, 0.0]]).double(), False),  # kernels are for float32
    ],
)
def test_exact_is_true_for_tensor_float_32(x, exact):
    assert FeatureTable.of(x, torch.zeros(len(x), dtype=torch.int64)).exact == exact


def test_unique_linear_equals_linear_of_every_node():
    torch.manual_seed(0)
    x = (torch.eye(5) + torch.eye(5).roll(2, 0))[[3, 1, 1, 0, 2, 1]]  # a label and a degree
    x[4] = 0.0
    table = FeatureTable.of(x, torch.arange(6) // 2, unique=True)
    assert len(table.unique) == 4
    weight, bias = torch.randn(2, 5, 3), torch.randn(2, 3)
    rows = torch.tensor([5, 4, 0, 3, 2, 2, 4, 1])  # four nodes of each replica
    expected = torch.baddbmm(bias.unsqueeze(1), x[rows].view(2, 4, 5), weight).flatten(0, 1)
    values, index = table.unique_linear(weight, bias), table.unique_index(rows, 2)
    torch.testing.assert_close(values[index], expected)
    assert index.dtype == torch.int32


def test_unique_of_many_rows_or_equal_hashes_is_none(monkeypatch):
    rows = torch.eye(2, 8)
    monkeypatch.setattr(tables, "row_hashes", lambda x: x.sum(1))  # equal hashes
    for x in (rows, torch.randn(2000, 8)):
        table = FeatureTable.of(x, torch.zeros(len(x), dtype=torch.int64), unique=True)
        assert table.unique is None
        assert table.inverse is None
    assert FeatureTable.of(rows, torch.zeros(2, dtype=torch.int64)).unique is None


def test_table_without_row_index_is_refused():
    table = FeatureTable.of(torch.eye(3), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(AssertionError, match="row index"):
        rows_at(table, None)
