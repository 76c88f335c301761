"""Every object that is a graph: the same tree, directed graphs, attributes, other objects."""

from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from sepool import as_graph, coding_tree

CLUB = nx.karate_club_graph()
ROWS = list(CLUB.edges(data="weight"))
NAMED_ROWS = [(f"v{u}", f"v{v}", w) for u, v, w in ROWS]
MATRIX = nx.to_numpy_array(CLUB)


def frame(rows):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(rows, columns=["source", "target", "weight"])


def polars(rows):
    return pytest.importorskip("polars").from_pandas(frame(rows))


def arrow(rows):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame(rows))


def duckdb(rows):
    return pytest.importorskip("duckdb").from_arrow(arrow(rows))


def tensor():
    return pytest.importorskip("torch").tensor(MATRIX)


def from_pyg():
    convert = pytest.importorskip("torch_geometric.utils").from_networkx
    graph = nx.empty_graph(len(CLUB))  # nodes in order: a Data has no names
    graph.add_weighted_edges_from(ROWS, weight="edge_weight")
    return convert(graph)


def from_networkit():
    return pytest.importorskip("networkit").nxadapter.nx2nk(CLUB, weightAttr="weight")


def from_graph_tool():
    graph = pytest.importorskip("graph_tool").Graph(directed=False)
    graph.add_vertex(len(CLUB))
    graph.edge_properties["weight"] = weight = graph.new_edge_property("int")
    graph.add_edge_list(ROWS, eprops=[weight])
    return graph


def neighbours(both):
    return {
        u: {v: data["weight"] for v, data in row.items() if both or u < v}
        for u, row in CLUB.adjacency()
    }


CLUBS = {
    "networkx": lambda: CLUB.copy(),
    "igraph": lambda: igraph.Graph.TupleList(NAMED_ROWS, weights=True),
    "graph-tool": from_graph_tool,
    "PyG": from_pyg,
    "SciPy": lambda: sparse.csr_array(MATRIX),
    "dense": lambda: MATRIX,
    "nested lists": MATRIX.tolist,
    "torch COO": lambda: tensor().to_sparse(),
    "torch CSR": lambda: tensor().to_sparse_csr(),
    "torch dense": tensor,
    "rows": lambda: ROWS,
    "array": lambda: np.array(ROWS),
    "edges and weights": lambda: (np.array(ROWS)[:, :2], np.array(ROWS)[:, 2]),
    "named rows": lambda: NAMED_ROWS,
    "neighbours": lambda: neighbours(both=False),
    "neighbours from both ends": lambda: neighbours(both=True),
    "pandas": lambda: frame(ROWS),
    "pandas, names": lambda: frame(NAMED_ROWS),
    "polars": lambda: polars(ROWS),
    "polars, names": lambda: polars(NAMED_ROWS),
    "Arrow": lambda: arrow(ROWS),
    "Arrow, names": lambda: arrow(NAMED_ROWS),
    "Arrow reader": lambda: arrow(NAMED_ROWS).to_reader(),
    "DuckDB": lambda: duckdb(ROWS),
    "DuckDB, names": lambda: duckdb(NAMED_ROWS),
}


def communities_by_name(tree):
    """The clusters of every level as sets of the numbers of their nodes."""
    numbers = [int(str(name).removeprefix("v")) for name in tree.names or range(tree.num_nodes)]
    levels = []
    for level in range(1, tree.height):
        clusters = {}
        for number, label in zip(numbers, tree.labels(level), strict=True):
            clusters.setdefault(label, set()).add(number)
        levels.append(set(map(frozenset, clusters.values())))
    return levels


@pytest.mark.parametrize(
    "build",
    [
        *(pytest.param(build, id=name) for name, build in CLUBS.items()),
        pytest.param(from_networkit, id="networkit", marks=pytest.mark.heavy),
    ],
)
def test_coding_tree_karate_club_as_any_object_is_the_tree_of_networkx(build):
    expected, tree = (coding_tree(graph, height=3) for graph in (CLUB, build()))
    assert tree.entropy == expected.entropy
    assert communities_by_name(tree) == communities_by_name(expected)


def arcs(library):
    """The arcs 0-1, 1-0 and 1-2 as a graph of a library."""
    if library == "scipy":
        return sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    if library == "torch_geometric":
        torch, data = map(pytest.importorskip, ("torch", "torch_geometric.data"))
        return data.Data(edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]), num_nodes=3)
    if library == "igraph":
        return igraph.Graph([(0, 1), (1, 0), (1, 2)], directed=True)
    return nx.DiGraph([(0, 1), (1, 0), (1, 2)])


@pytest.mark.parametrize("library", ["networkx", "igraph", "scipy", "torch_geometric"])
def test_directed_graph_needs_symmetrise(library):
    graph = arcs(library)
    with pytest.raises(ValueError, match=r"directed.*symmetrise=True"):
        as_graph(graph)
    assert as_graph(graph, symmetrise=True).degrees().tolist() == [2, 3, 1]


def test_asymmetric_weights_need_symmetrise():
    matrix = sparse.csr_array(np.array([[0, 2], [1, 0]]))
    with pytest.raises(ValueError, match=r"weighs 2, back weighs 1.*symmetrise=True"):
        as_graph(matrix)
    assert as_graph(matrix, symmetrise=True).degrees().tolist() == [3, 3]


@pytest.mark.parametrize("graph_class", [nx.Graph, igraph.Graph])
def test_weight_that_no_edge_has_is_refused(graph_class):
    graph = graph_class([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="no edge has the attribute 'cost'; edges have none"):
        as_graph(graph, weight="cost")
    if graph_class is nx.Graph:
        graph.add_edge(0, 1, cost=2, kind="road")
    else:
        graph.es["cost"], graph.es["kind"] = [2, 3], ["road", "path"]
    with pytest.raises(ValueError, match="has the attribute 'cots'; edges have cost, kind"):
        as_graph(graph, weight="cots")
    assert as_graph(graph).total_volume == 4


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.path_graph(3).edges, "read a graph from EdgeView"),
        (nx.path_graph(3).adj, "read a graph from AdjacencyView"),
        (nx.Graph([(0, 1, {"weight": "heavy"})]), "got 'heavy'"),
        (nx.Graph(), "no nodes"),
        (sparse.csr_array((2, 3)), r"square, got shape \(2, 3\)"),
        (sparse.linalg.aslinearoperator(np.eye(2)), "read a graph from"),
    ],
)
def test_other_objects_are_refused(graph, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_graph(graph)
