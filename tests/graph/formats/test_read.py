"""Graph files of every format, read back."""

from __future__ import annotations

import gzip
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import sepool

pa = pytest.importorskip("pyarrow")
igraph = pytest.importorskip("igraph")
pd = pytest.importorskip("pandas")
scipy = pytest.importorskip("scipy")


def karate() -> nx.Graph:
    return nx.karate_club_graph()


def frame(graph: nx.Graph) -> pd.DataFrame:
    return nx.to_pandas_edgelist(graph)


def words(graph: nx.Graph) -> pd.DataFrame:
    """Return a table whose nodes have names."""
    return frame(graph).assign(
        source=lambda f: "n" + f.source.astype(str), target=lambda f: "n" + f.target.astype(str)
    )


def as_igraph(graph: nx.Graph) -> igraph.Graph:
    result = igraph.Graph(len(graph), list(graph.edges))
    result.vs["name"] = [str(node) for node in graph]
    result.es["weight"] = [float(w) for *_, w in graph.edges(data="weight")]
    return result


def lines(graph: nx.Graph, separator: str, header: str = "", comma: bool = False) -> str:
    rows = [f"{u}{separator}{v}{separator}{w:.1f}" for u, v, w in graph.edges(data="weight")]
    text = header + "\n".join(rows) + "\n"
    return text.replace(".", ",") if comma else text


def packed(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file and compress it by its ending."""
    plain = path.with_suffix("")
    write(plain)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
        return
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
        out.write(plain.read_bytes())


matrix = nx.to_scipy_sparse_array
WRITERS: dict[str, Callable[[nx.Graph, Path], object]] = {
    "k.graphml": nx.write_graphml,
    "by_igraph.graphml": lambda g, p: as_igraph(g).write_graphml(str(p)),
    "k.gml": nx.write_gml,
    "by_igraph.gml": lambda g, p: as_igraph(g).write_gml(str(p)),
    "k.gexf": nx.write_gexf,
    "k.net": nx.write_pajek,
    "by_igraph.net": lambda g, p: as_igraph(g).write_pajek(str(p)),
    "k.mtx": lambda g, p: scipy.io.mmwrite(p, matrix(g)),
    "general.mtx": lambda g, p: scipy.io.mmwrite(p, matrix(g), symmetry="general"),
    "k.npz": lambda g, p: scipy.sparse.save_npz(p, matrix(g)),
    "k.csv": lambda g, p: frame(g).to_csv(p, index=False),
    "index.csv": lambda g, p: frame(g).assign(Type="Undirected").to_csv(p),
    "headless.csv": lambda g, p: frame(g).to_csv(p, index=False, header=False),
    "words.csv": lambda g, p: words(g).to_csv(p, index=False),
    "k.tsv": lambda g, p: frame(g).to_csv(p, index=False, sep="\t"),
    "semicolon.csv": lambda g, p: p.write_text(lines(g, ";", "Source;Target;Weight\n")),
    "decimal.csv": lambda g, p: p.write_text(lines(g, ";", "from;to;w\n", comma=True)),
    "no_header.csv": lambda g, p: p.write_text(lines(g, ";", comma=True)),
    "table.txt": lambda g, p: frame(g).to_csv(p, index=False),
    "k.parquet": lambda g, p: frame(g).to_parquet(p),
    "words.parquet": lambda g, p: words(g).to_parquet(p),
    "category.parquet": lambda g, p: words(g).astype({"source": "category"}).to_parquet(p),
    "k.feather": lambda g, p: frame(g).to_feather(p),
    "k.arrow": lambda g, p: write_stream(words(g), p),
    "k.edgelist": nx.write_edgelist,
    "weighted.edgelist": nx.write_weighted_edgelist,
    "data.txt": nx.write_edgelist,
}


def write_stream(table: pd.DataFrame, path: Path) -> None:
    arrow = pa.Table.from_pandas(table)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, arrow.schema) as out:
        out.write_table(arrow)


def assert_same_tree(path: Path, graph: nx.Graph) -> None:
    ours, expected = (sepool.coding_tree(g, height=3) for g in (path, graph))
    assert ours.entropy == expected.entropy
    names = ours.names or range(ours.num_nodes)
    assert len(names) == len(graph)
    place = {int(str(name).removeprefix("n")): i for i, name in enumerate(names)}
    order = [place[node] for node in graph]
    for level in (1, 2):
        labels = ours.labels(level)[order], expected.labels(level)
        assert len(set(zip(*labels, strict=True))) == expected.num_clusters(level)
        assert ours.num_clusters(level) == expected.num_clusters(level)


@pytest.mark.parametrize("name", WRITERS)
def test_read_file_karate_club_gives_the_same_tree(name, tmp_path):
    WRITERS[name](karate(), tmp_path / name)
    assert_same_tree(tmp_path / name, karate())


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("name", [name for name in WRITERS if name.startswith("k.")])
def test_read_file_compressed_gives_the_same_tree(name, ending, tmp_path):
    path = tmp_path / f"{name}{ending}"
    packed(path, lambda plain: WRITERS[name](karate(), plain))
    assert_same_tree(path, karate())


@pytest.mark.parametrize("name", ["k.graphml", "k.mtx", "k.csv", "k.parquet", "words.csv"])
def test_read_file_without_ending_goes_by_the_content(name, tmp_path):
    WRITERS[name](karate(), tmp_path / name)
    path = (tmp_path / name).rename(tmp_path / "graph")
    assert_same_tree(path, karate())


@pytest.mark.parametrize("name", ["k.gml", "k.gexf", "k.net", "k.npz", "k.tsv", "k.feather"])
def test_read_file_from_standard_input_gives_the_same_graph(name, tmp_path):
    path = tmp_path / name
    WRITERS[name](karate(), path)
    script = "import sepool; g = sepool.as_graph('-'); print(g, g.total_volume)"
    with open(path, "rb") as file:
        run = subprocess.run([sys.executable, "-c", script], stdin=file, capture_output=True)
    expected = sepool.as_graph(karate())
    assert run.stdout.decode() == f"{expected} {expected.total_volume}\n", run.stderr


def test_read_file_adjacency_list_has_no_weights(tmp_path):
    graph = karate()
    nx.write_adjlist(graph, tmp_path / "k.adjlist")
    ours = sepool.as_graph(tmp_path / "k.adjlist")
    expected = sepool.as_graph(graph, weight=None)
    assert ours.names is None
    np.testing.assert_array_equal(ours.indices, expected.indices)
    (tmp_path / "k.adjlist").rename(tmp_path / "k.txt")
    with pytest.raises(ValueError, match=r"k\.txt:4: expected .* choose the format adjlist"):
        sepool.as_graph(tmp_path / "k.txt")
    ours = sepool.as_graph(tmp_path / "k.txt", format="adjlist")
    np.testing.assert_array_equal(ours.indices, expected.indices)


@pytest.mark.parametrize("ending", ["graphml", "gml", "gexf", "net"])
def test_read_file_keeps_names_and_nodes_without_edges(ending, tmp_path):
    graph = nx.Graph()
    graph.add_edge("New York", 'São "Paulo" & co', weight=2.5)
    graph.add_edge("New York", "Rome", weight=1)
    graph.add_node("alone")
    if ending == "net":
        graph = nx.relabel_nodes(graph, {'São "Paulo" & co': "São Paulo"})
    path = tmp_path / f"graph.{ending}"
    getattr(nx, f"write_{'pajek' if ending == 'net' else ending}")(graph, path)
    ours = sepool.as_graph(path)
    assert ours.names == tuple(graph)
    expected = sepool.as_graph(graph)
    np.testing.assert_array_equal(ours.indptr, expected.indptr)
    np.testing.assert_array_equal(ours.weights * ours.unit, expected.weights * expected.unit)


@pytest.mark.parametrize("ending", ["graphml", "gml", "gexf"])
def test_read_file_other_attributes_may_be_the_weights(ending, tmp_path, caplog):
    caplog.set_level(logging.INFO, "sepool")
    graph = nx.Graph([("a", "b", {"value": 2.0}), ("b", "c", {"value": 1.0}), ("c", "a")])
    path = tmp_path / f"g.{ending}"
    getattr(nx, f"write_{ending}")(graph, path)
    assert sepool.as_graph(path).weights is None
    assert "no weights; ignored value" in caplog.messages[-1]
    ours = sepool.as_graph(path, weight="value")
    assert ours.total_volume == 8
    assert "weights value, 1 on 1 edges without" in caplog.messages[-1]
    assert sepool.as_graph(path, columns=("source", "target", "value")).total_volume == 8
    with pytest.raises(ValueError, match=r"g\.\w+: no edge has the attribute 'heft'; edges have v"):
        sepool.as_graph(path, weight="heft")


DIRECTED: dict[str, Callable[[nx.DiGraph, Path], object]] = {
    "d.graphml": nx.write_graphml,
    "d.gml": nx.write_gml,
    "d.gexf": nx.write_gexf,
    "d.net": nx.write_pajek,
    "d.mtx": lambda g, p: scipy.io.mmwrite(p, matrix(g), symmetry="general"),
    "d.npz": lambda g, p: scipy.sparse.save_npz(p, matrix(g)),
}


@pytest.mark.parametrize("name", DIRECTED)
def test_read_file_directed_is_refused_unless_arcs_may_count(name, tmp_path):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2), (1, 0, 1), (1, 2, 3), (2, 0, 1)])
    path = tmp_path / name
    DIRECTED[name](graph, path)
    with pytest.raises(ValueError, match=r"d\.\w+: the graph is directed .* pass symmetrise=True"):
        sepool.as_graph(path)
    for options in ({"symmetrise": True}, {"directed": "flow"}):
        ours, expected = sepool.as_graph(path, **options), sepool.as_graph(graph, **options)
        np.testing.assert_array_equal(ours.indices, expected.indices)
        np.testing.assert_allclose(ours.weights * ours.unit, expected.weights * expected.unit)


@pytest.mark.parametrize("name", ["k.graphml", "k.mtx", "k.gexf"])
def test_read_file_undirected_flow_is_the_graph(name, tmp_path):
    WRITERS[name](karate(), tmp_path / name)
    ours = sepool.as_graph(tmp_path / name, directed="flow")
    expected = sepool.as_graph(karate())
    np.testing.assert_array_equal(ours.indices, expected.indices)
    np.testing.assert_allclose(
        ours.weights / ours.weights.sum(), expected.weights / expected.weights.sum()
    )


def test_read_file_arcs_of_data_lists_keep_their_direction(tmp_path):
    graph = nx.DiGraph([(1, 0), (2, 1), (0, 2), (0, 1)])
    nx.write_edgelist(graph, tmp_path / "d.edgelist")
    ours = sepool.as_graph(tmp_path / "d.edgelist", directed="flow")
    expected = sepool.as_graph(nx.relabel_nodes(graph, {}), directed="flow")
    order = list(graph)
    adjacency = np.zeros((3, 3))
    for u, v, w in zip(*expected.edges(), strict=True):
        adjacency[order[u], order[v]] = adjacency[order[v], order[u]] = w
    u, v, w = ours.edges()
    np.testing.assert_allclose(w / w.sum(), adjacency[u, v] / adjacency[u, v].sum())


def test_read_file_edges_and_arcs_in_one_file_are_refused(write):
    path = write("*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n", "mixed.net")
    with pytest.raises(ValueError, match=r"mixed\.net: the file has \*Edges and \*Arcs; keep one"):
        sepool.as_graph(path)


def test_read_file_format_overrides_the_ending(tmp_path):
    WRITERS["k.csv"](karate(), tmp_path / "k.gml")
    with pytest.raises(ValueError, match=r"k\.gml:1: this is no whole GML file"):
        sepool.as_graph(tmp_path / "k.gml")
    assert sepool.as_graph(tmp_path / "k.gml", format="csv").num_edges == 78
    with pytest.raises(ValueError, match=r"format must be one of edgelist, csv, .* got 'dot'"):
        sepool.as_graph(tmp_path / "k.gml", format="dot")


def test_as_graph_options_of_files_are_refused_for_objects():
    with pytest.raises(ValueError, match="format='csv' goes with the path of a file"):
        sepool.as_graph([(0, 1)], format="csv")
    with pytest.raises(ValueError, match="chooses columns of a table"):
        sepool.as_graph([(0, 1)], columns=("a", "b"))


@pytest.mark.parametrize("ending", ["csv", "graphml", "mtx", "parquet", "txt", "npz", "adjlist"])
def test_read_file_empty_file_is_refused(write, ending):
    with pytest.raises(ValueError, match=rf"graph\.{ending}: no edges in this file"):
        sepool.as_graph(write("", f"graph.{ending}"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("graph.xlsx", "this is a spreadsheet; save it as CSV"),
        ("graph.gpickle", "this is a pickle, which may run code"),
        ("graph.txt.bz2", "this is an archive; unpack it"),
    ],
)
def test_read_file_unreadable_endings_are_named(write, name, message):
    with pytest.raises(ValueError, match=f"{name}: {message}"):
        sepool.as_graph(write("0 1\n", name))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["k.csv", "k.graphml", "k.mtx", "k.parquet", "k.edgelist"])
def test_read_file_damaged_compression_is_refused(name, ending, tmp_path):
    path = tmp_path / f"{name}{ending}"
    packed(path, lambda plain: WRITERS[name](karate(), plain))
    path.write_bytes(path.read_bytes()[:-30])
    message = f"{name}{ending}: truncated or damaged {'gzip' if ending == '.gz' else 'zstd'} file"
    with pytest.raises(ValueError, match=message):
        sepool.as_graph(path)


@pytest.mark.parametrize(
    "name",
    [
        *("k.graphml", "k.gml", "k.gexf", "k.mtx", "k.npz", "k.parquet", "k.feather", "k.arrow"),
    ],
)
def test_read_file_truncated_file_is_refused_in_one_line(name, tmp_path):
    path = tmp_path / name
    WRITERS[name](karate(), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=rf"/{name}:") as caught:
        sepool.as_graph(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.gml", "graph [\n node [ id 0 ]\n edge [ source 0 target 7 ]\n]", ":3: this is no"),
        ("g.net", "*Vertices 2\n*Edges\n1 x\n", ":3: this is no whole Pajek file"),
        ("g.net", "*Vertices 2\n*Edges\n1 5\n", ": .*Invalid vertex ID .5."),
        ("g.graphml", "<graphml>\n<graph>\n<node id='a'></graph>", ":3: this is no whole GraphML"),
        ("g.gexf", "<gexf>\n<graph>\n</gexf>", ":3: this is no whole GEXF file"),
        ("g.feather", "FEA1 and more", ": this is Feather of version 1; write it again"),
        ("g.gexf", "<html></html>", ": this is no GEXF file"),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n", ":3: expected"),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n", ": .* square"),
        ("g.edgelist", "0 1 {'weight': 2}\n1 2 {'weight': }\n", ":2: expected u v {'weight': 2}"),
        ("g.gml", 'graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight "big" ] ]',
         ": edge weights must be real numbers, got 'big'"),
    ],
)  # fmt: skip
def test_read_file_bad_content_is_named(write, name, text, message):
    with pytest.raises(ValueError, match=rf"{name}{message}") as caught:
        sepool.as_graph(write(text, name))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.net", b'*Vertices 2\n1 "S\xe3o"\n2 "b"\n*Edges\n1 2\n'),
        ("g.gml", b'graph [\nnode [ id 0 label "S\xe3o" ]\nnode [ id 1 label "b" ]\n]\n'),
        ("g.adjlist", b"a b\nS\xe3o c\n"),
    ],
)
def test_read_file_other_encodings_are_refused(write, name, content):
    with pytest.raises(ValueError, match=rf"{name}:2: this is no text in UTF-8"):
        sepool.as_graph(write(content, name))


def test_read_file_declared_encodings_of_xml_are_read(write):
    text = """<?xml version="1.0" encoding="ISO-8859-1"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="S\xe3o"/><node id="b"/><edge source="S\xe3o" target="b"/></graph></graphml>"""
    assert sepool.as_graph(write(text.encode("latin1"), "g.graphml")).names == ("S\xe3o", "b")


@pytest.mark.parametrize("ending", ["mtx", "npz", "adjlist", "edgelist"])
def test_read_file_formats_without_attributes_refuse_their_options(write, ending):
    path = write("0 1\n", f"g.{ending}")
    with pytest.raises(ValueError, match=r"weight='value' names a column or edge attribute, which"):
        sepool.as_graph(path, weight="value")
