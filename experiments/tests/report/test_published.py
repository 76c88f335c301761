from __future__ import annotations

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.published import Published, published


def test_published_covers_graph_tables():
    table1, table2 = PROTOCOLS["table1"], PROTOCOLS["table2"]
    for dataset in table1.datasets:
        assert all(published("table1", system, dataset) for system in table1.systems)
        for conv in ("GCN", "GIN", "GAT", "ChebNet", "GraphSAGE"):
            assert published("table2", f"SEP-G-{conv}", dataset)
        assert published("table2", "SEP-G-GCN", dataset) == published("table1", "SEP-G", dataset)
    assert table2.systems == ("SEP-G",)


def test_published_covers_node_tables():
    from sepool_experiments.report.cells import LIGHT, Line

    depths = {("g-U-Nets", "1")}  # missing in the paper
    for name in ("table3", "table4", "tableA1"):
        table = PROTOCOLS[name]
        for dataset in table.datasets:
            for system in table.systems:
                for config in table.configs(dataset, system):
                    line = Line.of(table, system, "", config)
                    assert (system, line.variant) not in depths
                    light = line.variant.endswith(LIGHT)  # no model of the paper
                    assert (published(name, line.name, dataset) is None) == light, line


def test_published_values_equal_paper():
    assert published("table1", "SEP-G", "NCI1") == Published(78.35, 0.33)
    assert published("table1-quick", "SEP-G", "NCI1") == Published(78.35, 0.33)
    assert published("table3", "SEP-N", "CiteSeer") == Published(72.9, 0.7)
    assert published("table4", "SEP-N(1)", "CiteSeer") == Published(73.3, 0.6)
    assert published("tableA1", "GCNII(8)", "PubMed").mean == 79.3


def test_published_missing_is_none():
    assert published("table1", "SEP-G", "ENZYMES") is None
    assert published("table1", "Mine", "MUTAG") is None
    assert published("table99", "SEP-G", "MUTAG") is None
