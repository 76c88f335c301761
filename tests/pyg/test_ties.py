"""Proposition 2 of the paper: SEP(A, H) = SEP(PAP', PH)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import shapes
from tests.pyg_graphs import as_data, molecules, same_data
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATv2Conv

import sepool
from sepool import AddCodingTree, hierarchy
from sepool.nn import SEPG


def rings(number: int, length: int) -> shapes.Edges:
    return [(length * k + u, length * k + v) for k in range(number) for u, v in shapes.ring(length)]


SYMMETRIC = {
    "ring": (12, shapes.ring(12)),
    "prism": (10, [*rings(2, 5), *((u, u + 5) for u in range(5))]),
    "two hexagons": (12, [*rings(2, 6), (0, 6)]),
    "four rings": (16, rings(4, 4)),
    "star": (9, shapes.star(9)),
    "grid": (16, shapes.grid(16)),
    "complete": (7, shapes.complete(7)),
    "large ring": (80, shapes.ring(80)),
}


def permuted(graph: Data, seed: int) -> Data:
    """The same graph with its nodes and edges in another order."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(graph.num_nodes, generator=generator)
    edges = torch.randperm(graph.num_edges, generator=generator)
    result = Data(edge_index=order.argsort()[graph.edge_index][:, edges], num_nodes=len(order))
    for key in ("x", "edge_attr", "edge_weight"):
        if key in graph:
            result[key] = graph[key][order if key == "x" else edges]
    return result


def logits(graphs: list[Data], conv="GCN", **options) -> torch.Tensor:
    torch.manual_seed(0)
    model = SEPG(graphs[0].num_features, 8, 4, height=3, conv=conv).double().eval()
    with torch.no_grad():
        return model(Batch.from_data_list(AddCodingTree(3, **options).apply_all(graphs)))


def change(graphs: list[Data], conv="GCN", permutations: int = 5, **options) -> torch.Tensor:
    """The largest change of the logits of every graph under permutations."""
    first = logits(graphs, conv, **options)
    changes = []
    for seed in range(permutations):
        again = logits([permuted(graph, seed) for graph in graphs], conv, **options)
        changes.append((again - first).abs().amax(1))
    return torch.stack(changes).amax(0)


@st.composite
def symmetric_graphs(draw) -> Data:
    """A symmetric structure with few features, which break the symmetry or part of it."""
    n, edges = draw(st.sampled_from(list(SYMMETRIC.values())))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    few = draw(st.integers(2, 3))
    x = torch.eye(3, dtype=torch.double)[torch.randint(few, (n,), generator=generator)]
    return as_data(edges, n, x=x)


@pytest.mark.parametrize("method", shapes.METHODS)
@given(st.lists(symmetric_graphs(), min_size=1, max_size=3), st.integers(0, 99))
def test_logits_symmetric_structure_are_independent_of_the_order(method, graphs, seed):
    again = [permuted(graph, seed) for graph in graphs]
    assert torch.allclose(
        logits(graphs, method=method), logits(again, method=method), rtol=0, atol=1e-9
    )


@given(st.integers(0, 999), st.integers(5, 40), st.integers(0, 99))
def test_logits_molecule_are_independent_of_the_order(shape, n, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.eye(3, dtype=torch.double)[torch.randint(3, (n,), generator=generator)]
    graph = as_data(shapes.molecule(n, shape), n, x=x)
    assert float(change([graph], permutations=2)) < 1e-9


def test_logits_with_ties_of_the_structure_depend_on_the_order():
    """The claim fails without features: the tests above would notice."""
    n, edges = SYMMETRIC["ring"]
    x = torch.eye(2, dtype=torch.double)[[0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]]
    graph = as_data(edges, n, x=x)
    assert float(change([graph], ties="structure")) > 1e-4
    assert float(change([graph])) < 1e-9


def bonds(graph: Data, seed: int, both: bool = True) -> Data:
    """Edges with one of two attributes, equal in both directions or not."""
    generator = torch.Generator().manual_seed(seed)
    row, col = graph.edge_index
    choice = torch.randint(2, (graph.num_nodes, graph.num_nodes), generator=generator)
    which = choice[torch.minimum(row, col), torch.maximum(row, col)] if both else choice[row, col]
    graph.edge_attr = torch.eye(2, dtype=torch.double)[which]
    return graph


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_logits_edge_attributes_are_independent_of_the_order(name, both):
    n, edges = SYMMETRIC[name]
    graphs = [as_data(edges, n, x=torch.ones(n, 1, dtype=torch.double)) for _ in range(4)]
    graphs = [bonds(graph, seed, both) for seed, graph in enumerate(graphs)]
    conv = lambda a, b: GATv2Conv(a, b, edge_dim=2)  # noqa: E731
    assert float(change(graphs, conv).max()) < 1e-9


def test_logits_other_weights_than_those_of_the_tree_are_independent_of_the_order():
    n, edges = SYMMETRIC["ring"]
    graph = bonds(as_data(edges, n, x=torch.ones(n, 1, dtype=torch.double)), 3)
    graph.edge_weight = 1 + graph.edge_attr[:, 0]
    del graph.edge_attr
    assert float(change([graph], edge_weight=None)) < 1e-9
    assert float(change([graph], edge_weight=None, ties="structure")) > 1e-4


def test_logits_directed_edges_and_loops_are_independent_of_the_order():
    n, edges = SYMMETRIC["prism"]
    arcs = torch.tensor([*edges, (3, 3), (4, 4), (4, 4)]).T
    graph = Data(edge_index=arcs, x=torch.ones(n, 1, dtype=torch.double))
    assert float(change([graph], symmetrise=True)) < 1e-9


@pytest.mark.parametrize("name", SYMMETRIC)
def test_trees_with_features_have_the_sizes_of_the_structure(name):
    n, edges = SYMMETRIC[name]
    graphs = [as_data(edges, n, x=torch.rand(n, 2)) for _ in range(3)]
    trees = [AddCodingTree(3, ties=ties).apply_all(graphs) for ties in ("features", "structure")]
    for pair in zip(*trees, strict=True):
        levels = [hierarchy(data) for data in pair]
        for level in (1, 2, 3):
            sizes = [sorted(each.sizes[level - 1].tolist()) for each in levels]
            assert sizes[0] == sizes[1]


def test_apply_all_equals_one_by_one():
    graphs = [bonds(graph, seed) for seed, graph in enumerate(molecules(20))]
    for ties in ("features", "structure"):
        add = AddCodingTree(3, ties=ties)
        assert all(map(same_data, add.apply_all(graphs), map(add, graphs)))


def test_features_equal_for_all_nodes_give_the_tree_of_the_structure():
    n, edges = SYMMETRIC["grid"]
    graph = as_data(edges, n, x=torch.ones(n, 3))
    assert same_data(AddCodingTree(3)(graph), AddCodingTree(3, ties="structure")(graph))


@pytest.mark.parametrize(
    "features",
    [
        {"x": torch.rand(4, 2, dtype=torch.bfloat16)},
        {"x": torch.rand(4, 2).to_sparse()},
        {"x": torch.rand(4)},
        {"x": torch.rand(4, 2, 2)},
        {"x": torch.empty(4, 0)},
        {"x": torch.tensor([[torch.nan], [0.0], [-0.0], [torch.nan]])},
        {"edge_attr": torch.rand(8)},
        {"edge_attr": torch.randint(3, (8, 2))},
    ],
)
def test_features_of_any_type_and_shape_are_read(features):
    graph = as_data(shapes.ring(4), 4, **features)
    assert hierarchy(AddCodingTree(2)(graph)).height == 2


def test_features_of_some_graphs_alone_are_read():
    plain, *others = molecules(4)
    del plain.x
    others[0].x = torch.rand(others[0].num_nodes, 7)
    together = AddCodingTree(3).apply_all([plain, *others])
    assert all(map(same_data, together, map(AddCodingTree(3), [plain, *others])))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"x": torch.rand(3, 2)}, r"x must be a tensor of 4 rows .* a node, got \(3, 2\)"),
        ({"x": [1, 2, 3, 4]}, r"x must be a tensor of 4 rows of real numbers.*got list"),
        (
            {"x": torch.zeros(4, dtype=torch.cfloat)},
            r"x must be a tensor of 4 rows of real numbers",
        ),
        ({"edge_attr": torch.rand(4, 2)}, r"edge_attr must be .* 8 rows .* an edge, got \(4, 2\)"),
    ],
)
def test_features_that_fit_no_graph_raise(features, message):
    graph = as_data(shapes.ring(4), 4, **features)
    with pytest.raises(ValueError, match=message + r'.*ties="structure" builds trees without'):
        AddCodingTree(2)(graph)
    with pytest.raises(ValueError, match="graph 1: "):
        AddCodingTree(2).apply_all([as_data(shapes.ring(4), 4), graph])
    assert hierarchy(AddCodingTree(2, ties="structure")(graph)).height == 2


def test_ties_unknown_raises():
    with pytest.raises(ValueError, match="ties must be one of features, structure, got 'nodes'"):
        AddCodingTree(ties="nodes")


@pytest.mark.parametrize("name", ["MUTAG", "PTC_MR"])
def test_logits_tu_dataset_are_independent_of_the_order(name, tmp_path):
    from torch_geometric.datasets import TUDataset

    raw = Path(os.environ.get("SEPOOL_DATA", "."), "TU", name, "raw")
    if not raw.exists():
        pytest.skip(f"needs {name}: set SEPOOL_DATA to a folder with TU/{name}/raw")
    (tmp_path / name).mkdir()
    (tmp_path / name / "raw").symlink_to(raw.resolve())
    graphs = [
        Data(x=graph.x.double(), edge_index=graph.edge_index)
        for graph in TUDataset(str(tmp_path), name)
    ]
    assert float(change(graphs, permutations=2).max()) < 1e-9
    assert len(sepool.AddCodingTree(3).apply_all(graphs)) == len(graphs)
