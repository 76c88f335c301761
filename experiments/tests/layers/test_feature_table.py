"""Tables of features: the same numbers in another order, and where rows end."""

from __future__ import annotations

import pytest
import torch

from sepool.nn import feature_table as tables
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
def test_numbers_that_are_short(x, exact):
    assert FeatureTable.of(x, torch.zeros(len(x), dtype=torch.int64)).exact == exact


def test_lines_of_kinds_are_what_layers_give():
    """One line a kind and replica, in which every node finds its ``x W + b``."""
    torch.manual_seed(0)
    x = (torch.eye(5) + torch.eye(5).roll(2, 0))[[3, 1, 1, 0, 2, 1]]  # a label and a degree
    x[4] = 0.0
    table = FeatureTable.of(x, torch.arange(6) // 2, kinds=True)
    assert len(table.kinds) == 4
    weight, bias = torch.randn(2, 5, 3), torch.randn(2, 3)
    source = torch.tensor([5, 4, 0, 3, 2, 2, 4, 1])  # four nodes of each replica
    expected = torch.baddbmm(bias.unsqueeze(1), x[source].view(2, 4, 5), weight).flatten(0, 1)
    lines, places = table.lines(weight, bias), table.places(source, 2)
    torch.testing.assert_close(lines[places], expected)
    assert places.dtype == torch.int32


def test_kinds_are_few_and_not_mixed_up(monkeypatch):
    """Rows that are not alike are never one kind, and of many kinds there is no table."""
    twins = torch.eye(2, 8)
    monkeypatch.setattr(tables, "row_marks", lambda x: x.sum(1))  # these look the same
    for x in (twins, torch.randn(2000, 8)):
        table = FeatureTable.of(x, torch.zeros(len(x), dtype=torch.int64), kinds=True)
        assert table.kinds is None
        assert table.kind is None
    assert FeatureTable.of(twins, torch.zeros(2, dtype=torch.int64)).kinds is None


def test_a_table_alone_has_no_rows_for_nodes():
    table = FeatureTable.of(torch.eye(3), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(AssertionError, match="source"):
        rows_at(table, None)
