"""Round trips of clusterings through files of every format, and bad files."""

from __future__ import annotations

import csv
import gzip
import warnings

import networkx as nx
import pytest
from tests.scores.clubs import karate, nested

import sepool
from sepool.scores.formats.read import read_cluster_file, read_clustering


def rows_of(tree):
    names = range(tree.num_nodes) if tree.names is None else tree.names
    return list(zip(names, *(tree.labels(i).tolist() for i in range(1, tree.height)), strict=True))


def table(tree, path, delimiter=",", header=True, quoting=csv.QUOTE_MINIMAL):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        if header:
            writer.writerow(["node", *(f"level_{i}" for i in range(1, tree.height))])
        writer.writerows(rows_of(tree)[::-1])


def clu(tree, path):
    head = "# v2.16.0\n# module level 1\n# node_id module flow\n"
    path.write_text(head + "".join(f"{row[0]} {row[-1] + 1} 0.01\n" for row in rows_of(tree)))


def infomap_tree(tree, path, links=""):
    lines = ["# v2.16.0", "# path flow name node_id"]
    for i, (name, *labels) in enumerate(rows_of(tree)):
        place = ":".join(str(label + 1) for label in reversed(labels))
        lines.append(f'{place}:{i + 1} 0.01 "{name}" {i}')
    path.write_text("\n".join(lines) + "\n" + links)


def pajek(tree, path):
    lines = [f"*Vertices {tree.num_nodes}", *(str(row[1]) for row in rows_of(tree))]
    path.write_text("\r\n".join(lines) + "\r\n")


def labels(tree, path):
    path.write_text("% clusters\n" + "".join(f"c{row[1]}\n" for row in rows_of(tree)))


def communities(tree, path, separator="\t"):
    sets = tree.communities(1)
    path.write_text("".join(separator.join(map(str, part)) + "\n" for part in sets))


LINKS = "*Links undirected\n#*Links path enter exit edges children\n*Links root 0 0 1 2\n1 2 0.1\n"
NESTED = {
    "tree.json": lambda tree, path: tree.save(path),
    "tree.npz": lambda tree, path: tree.save(path),
    "table.csv": table,
    "table.tsv": lambda tree, path: table(tree, path, "\t"),
    "quoted.csv": lambda tree, path: table(tree, path, quoting=csv.QUOTE_ALL),
    "blanks.txt": lambda tree, path: table(tree, path, " "),
    "infomap.tree": infomap_tree,
    "infomap.ftree": lambda tree, path: infomap_tree(tree, path, LINKS),
    "no_suffix": infomap_tree,
}
FLAT = {
    "clusters.clu": clu,
    "clu.txt": clu,
    "pajek.clu": pajek,
    "labels.txt": labels,
    "communities.txt": communities,
    "blanks.cmty": lambda tree, path: communities(tree, path, " "),
    "two.csv": lambda tree, path: table(tree, path, header=False),
    "two.tsv": lambda tree, path: table(tree, path, "\t", header=False),
    "two.txt": lambda tree, path: table(tree, path, " ", header=False),
}
CASES = [
    *((name, write, 2) for name, write in NESTED.items()),
    *((name, write, 1) for name, write in {**NESTED, **FLAT}.items()),
]


@pytest.mark.parametrize("names", [False, True], ids=["ids", "names"])
@pytest.mark.parametrize(
    ("name", "write", "levels"), CASES, ids=[f"{case[0]}-{case[2]}" for case in CASES]
)
def test_read_clustering_round_trip_has_the_same_scores(tmp_path, name, write, levels, names):
    graph = karate(names)
    tree = nested(graph) if levels == 2 else nested(graph).at(2)
    path = tmp_path / name
    write(tree, path)
    expected = sepool.compare(graph, {"a": tree}).rows
    if names and name in ("clusters.clu", "clu.txt"):
        path.write_text(path.read_text().replace("m", ""))
        path.write_text(path.read_text().replace("# odule", "# module"))
        clu(nested(karate()).at(2), path)  # ids in the place of names
    assert read_clustering(path, graph) == tree
    assert sepool.compare(graph, {"a": path}).rows == expected
    path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
    if not name.startswith("tree.") and path.suffix not in (".clu", ""):
        assert read_clustering(path.with_suffix(".gz"), graph) == tree


@pytest.mark.parametrize("file", ["infomap.clu", "infomap.tree", "infomap.ftree"])
def test_read_clustering_file_of_infomap_has_its_codelength(tmp_path, file):
    package = pytest.importorskip("infomap")
    graph = karate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = package.Infomap(silent=True, two_level=True)
        for u, v, weight in graph.edges(data="weight"):
            program.add_link(u, v, weight)
        program.run()
        writers = (program.write_clu, program.write_tree, program.write_flow_tree)
        for suffix, write in zip(("clu", "tree", "ftree"), writers, strict=True):
            write(str(tmp_path / f"infomap.{suffix}"))
        modules, bits = program.get_modules(), program.codelength
    path = tmp_path / file
    assert read_clustering(path, graph) == sepool.CodingTree.from_levels(graph, modules)
    assert sepool.compare(graph, {"a": path}).rows[0].codelength == pytest.approx(bits)
    if file != "infomap.clu":  # names are those of the program, ids the order of the graph
        named = sepool.as_graph(karate(names=True))
        assert read_clustering(path, named).labels(1).tolist() == (
            read_clustering(path, graph).labels(1).tolist()
        )


PAIRS = [(0, 1), (2, 3)]
ABCD = nx.Graph(["ab", "cd"])


@pytest.mark.parametrize(
    ("name", "text", "labels", "note"),
    [
        ("a.csv", "player,club\na,1\nb,1\nc,2\nd,2\n", [0, 0, 1, 1], "header player,club"),
        ("a.csv", "id,x\nd,1\nb,0\nc,1\na,0\n", [0, 0, 1, 1], "header id,x"),
        ("a.csv", "# text, more\na,1\n# b, c\nb,1\nc,2\nd,2\n", [0, 0, 1, 1], "no header"),
        ("a.txt", "a 1\nb 1\nc 2\nd 2\n", [0, 0, 1, 1], "separated by blanks, no header"),
        ("a.txt", "a 1\nb 2\nc 3\nd 4\n", [0, 1, 2, 3], "table"),
        ("a.txt", "a b\nc d\n", [0, 0, 1, 1], "communities, 2 communities"),
        ("a.txt", "a b c\nd\n", [0, 0, 0, 1], "communities"),
        ("a.txt", "a b c d\n", [0, 0, 0, 0], "communities"),
        ("a.txt", "x\ny y\nx\n", None, "is not in the graph"),
        ("a.txt", "x\nx\ny\ny\n", [0, 0, 1, 1], "labels, in the order of the nodes"),
        ("a.clu", "x\nx\ny\ny\n", [0, 0, 1, 1], "labels"),
        ("a.clu", "a 1\nb 1\nc 2\nd 2\n", [0, 0, 1, 1], "infomap-clu"),
        ("a.clu", "1 1 0.2\n2 1 0.1\n3 2 0\n4 2 1e-5\n", [0, 0, 1, 1], "ids from 1 count"),
        ("a.clu", "3 1 0.2\n2 1 0.1\n1 2 0\n0 2 0\n", [0, 0, 1, 1], "ids from 0 count"),
        ("a.txt", "a 1 0.2\nb 1 0.1\nc 2 0.1\nd 2 1e-5\n", [0, 0, 1, 1], "infomap-clu"),
        ("a.tree", '1:1 .1 "a" 1\n1:2 .1 "b" 2\n2 .1 "c" 3\n3 .1 "d" 4\n', [0, 0, 1, 2], ""),
        ("a.tree", '1 .1 "a" 1\n2 .1 "b" 2\n3 .1 "c" 3\n4 .1 "d" 4\n', [0] * 4, "1 cluster"),
        ("a.tree", '1:1 .1 "a"\n1:2 .1 "b"\n2:1 .1 "c"\n2:2 .1 "d"\n', [0, 0, 1, 1], ""),
        ("a.tree", '1:1 1 "x" 1\n1:2 1 "y" 2\n2:1 1 "z" 3\n2:2 1 "w" 4\n', [0, 0, 1, 1], "from 1"),
    ],
)
def test_read_clustering_format_is_recognised(write, name, text, labels, note):
    path = write(text, name)
    if labels is None:
        with pytest.raises(ValueError, match=note):
            read_cluster_file(path, ABCD)
        return
    file = read_cluster_file(path, ABCD)
    assert file.tree.labels(1).tolist() == labels
    assert note in file.notes[0]
    assert file.notes[0].startswith(f"{path}: {file.format}")


def test_read_clustering_infomap_modules_of_unequal_depth_are_nested(write):
    lines = ['1:1:1 0 "a" 0', '1:1:2 0 "b" 1', '1:2:1 0 "c" 2', '1:2:2 0 "d" 3', '2:1 0 "e" 4']
    path = write("\n".join(lines), "a.tree")
    tree = read_clustering(path, nx.Graph(["ab", "cd", "de"]))
    assert [tree.labels(i).tolist() for i in (1, 2)] == [[0, 0, 1, 1, 2], [0, 0, 0, 0, 1]]


def test_read_clustering_names_with_separators_match(write):
    graph = nx.Graph([("New York, NY", "Paris"), ('a "b"', "#tag")])
    path = write('node,level_1\n"New York, NY",0\nParis,0\n"a ""b""",1\n#tag,1\n', "a.csv")
    assert read_clustering(path, graph).labels(1).tolist() == [0, 0, 1, 1]
    path = write('New York, NY\tParis\na "b"\t#tag\n', "a.txt")
    assert read_clustering(path, graph).num_clusters(1) == 2


def test_read_clustering_node_called_node_is_no_header(write):
    graph = nx.Graph([("node", "b")])
    assert read_clustering(write("node,1\nb,1\n", "a.csv"), graph).counts == (2, 1, 1)
    path = write("node,level_1\nnode,1\nb,1\n", "a.csv")
    assert read_clustering(path, graph).counts == (2, 1, 1)


def test_read_clustering_bom_is_no_part_of_a_name(write):
    path = write(b"\xef\xbb\xbfa,1\nb,1\nc,2\nd,2\n", "a.csv")
    assert read_clustering(path, ABCD).labels(1).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("chosen", "text", "labels"),
    [
        ("communities", "a b\nc d\n", [0, 0, 1, 1]),
        ("table", "a b\nb c\nc d\nd e\n", [0, 1, 2, 3]),
        ("labels", "a b\na b\nc d\nc d\n", [0, 0, 1, 1]),
        ("infomap-clu", "a 1\nb 1\nc 2\nd 2\n", [0, 0, 1, 1]),
    ],
)
def test_read_clustering_format_can_be_chosen(write, chosen, text, labels):
    file = read_cluster_file(write(text, "a.txt"), ABCD, chosen)
    assert (file.format, file.tree.labels(1).tolist()) == (chosen, labels)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        # nodes
        ("a.csv", "a,1\nb,1\nc,2\n", "a.csv: node 'd' of the graph has no cluster in this file"),
        ("a.csv", "a,1\nb,1\n", r"node 'c' of the graph has no cluster .* \(2 nodes have none\)"),
        ("a.csv", "a,1\nb,1\nz,2\nd,2\n", "a.csv:3: node 'z' is not in the graph; .* like 'a'"),
        ("a.csv", "a,1\nb,1\na,2\nd,2\n", "a.csv:3: node 'a' again; it is on line 1 as well"),
        ("a.csv", "node,x\na,1\nb,1\nc,2\nc,2\n", "a.csv:5: node 'c' again; it is on line 4"),
        ("a.txt", "a b c\nc d\n", "a.txt:2: node 'c' again; it is on line 1"),
        ("a.txt", "a b\nc d x\n", "a.txt:2: node 'x' is not in the graph"),
        ("a.txt", "a b\nc\n", "a.txt: node 'd' of the graph has no cluster"),
        ("a.clu", "a 1 0\nb 1 0\nc 1 0\nz 1 0\n", "a.clu:4: node 'z' is not in the graph"),
        ("a.clu", "1 1 0\n2 1 0\n3 1 0\n9 1 0\n", "a.clu:1: node '1' is not in the graph"),
        ("a.tree", '1:1 0 "a" 1\n1:2 0 "z" 2\n', "a.tree:2: node 'z' is not in the graph"),
        ("a.tree", '1:1 0 "a" 1\n1:2 0 "a" 2\n', "a.tree:2: node 'a' again; it is on line 1"),
        ("a.txt", "1\n1\n2\n", "a.txt: expected 4 clusters, one a node of the graph, got 3"),
        ("a.clu", "*Vertices 3\n1\n1\n2\n", "a.clu: expected 4 clusters, .* got 3"),
        # lines
        ("a.csv", "node,level_1\na,1\nb,\n", "a.csv:3: node 'b' has no cluster in column 2"),
        ("a.csv", "node,level_1\na,1\nb,1,2\n", "a.csv:3: expected 2 columns, got 3"),
        ("a.csv", 'a,"1\nb,1\n', "a.csv:1: unexpected end of data"),
        ("a.csv", 'node,level_1\na,"1"x\n', "a.csv:2: .* got 'a,\"1\"x'"),
        ("a.csv", "node,level_1\n", "a.csv: no clusters below the header"),
        (
            "a.csv",
            "a,1,2\nb,1,2\nc,1,2\nd,1,2\n",
            "a.csv:1: 3 columns need the header",
        ),
        ("a.csv", "node,level_2,level_1\na,1,2\n", "finest first.*got 'node,level_2,level_1'"),
        ("a.csv", "node,cluster,score\na,1,2\n", "otherwise keep two columns"),
        ("a.csv", "node,level_1,level_2\na,0,0\nb,0,1\nc,1,1\nd,1,1\n", "a.csv: .*must be nested"),
        ("a.txt", 'a "b\nc d e\n', "a.txt:1: unexpected end of data"),
        ("a.clu", "a 1 0.5\nb x 0.5\n", "a.clu:2: expected 'node_id module flow', got 'b x 0.5'"),
        ("a.clu", "1 2 0.5 7\n", "a.clu:1: expected 'node_id module flow'"),
        (
            "a.clu",
            "*Vertices 4\n1\n1\nx\n2\n",
            "a.clu:4: expected the number .* got 'x'",
        ),
        ("a.clu", "*Vertices 4\n1\n1\n2\n", r"a.clu:4: \*Vertices 4, but 3 lines with clusters"),
        ("a.clu", "*Vertices 4\n", r"a.clu:1: \*Vertices 4, but 0 lines with clusters"),
        ("a.net", '*Vertices 2\n1 "a"\n', "a.net:2: expected the number of a cluster"),
        (
            "a.tree",
            '1:1 0 "a" 1\nb 2\n',
            "a.tree:2: expected 'path flow .* got 'b 2'",
        ),
        ("a.tree", '1:1 0 "a" 1 5\n', "a.tree:1: a tree of state nodes or layers"),
        ("a.tree", "*Links undirected\n", "a.tree: no lines 'path flow"),
        # files
        ("a.txt", "", "a.txt: no clusters in this file"),
        ("a.txt", "# nothing\n\n", "a.txt: no clusters in this file"),
        ("a.txt", b"\x80\x81", "a.txt: this is no text in UTF-8"),
        ("a.gz", b"\x1f\x8bxx", "a.gz: truncated or damaged gzip file"),
        ("a.json", "{}", "a.json: not a coding tree"),
        ("a.npz", "x", "a.npz: truncated, or not a NumPy archive"),
        # doubt
        ("a.txt", "a b\nc x\n", "a.txt: 2 lines of 2 columns .* table or communities; choose one"),
        ("a.txt", "a 1 2\nb 1 3\n", "may be of the format infomap-clu or communities"),
        ("a.txt", "a b c x\n", "may be of the format table or communities"),
    ],
)
def test_read_clustering_bad_file_names_file_line_and_node(write, name, text, message):
    path = write(text, name)
    with pytest.raises(ValueError, match=message) as error:
        read_clustering(path, ABCD)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_read_clustering_error_names_the_format_recognised(write):
    path = write("a,1\nb,1\nc,2\n", "a.csv")
    with pytest.raises(ValueError, match=r"\(read as table; format=, --format, names another\)$"):
        read_clustering(path, ABCD)
    with pytest.raises(ValueError, match=r"in this file$"):
        read_clustering(path, ABCD, format="table")


def test_read_clustering_pajek_without_head_is_refused(write):
    with pytest.raises(ValueError, match=r"a.txt:1: expected '\*Vertices n', got '1'"):
        read_clustering(write("1\n1\n", "a.txt"), ABCD, format="pajek")


def test_read_clustering_table_of_one_column_is_refused(write):
    with pytest.raises(ValueError, match=r"a.txt:1: expected 'node,cluster', got 'a'"):
        read_clustering(write("a\nb\n", "a.txt"), ABCD, format="table")


def test_read_clustering_number_names_match_as_they_are(write):
    graph = nx.Graph([(1, 2), (3, 4)])
    with pytest.raises(ValueError, match=r"a.clu:1: node '0' is not in the graph"):
        read_clustering(write("0 1\n1 1\n2 2\n3 2\n", "a.clu"), graph)


def test_read_clustering_unknown_format_is_refused(write):
    with pytest.raises(ValueError, match=r"format must be one of auto, tree, .* got 'xml'"):
        read_clustering(write("1\n"), ABCD, format="xml")


def test_read_clustering_tree_format_needs_its_suffix(write):
    with pytest.raises(ValueError, match=r"a tree file ends in .json or .npz"):
        read_clustering(write("1\n"), ABCD, format="tree")


def test_read_clustering_tree_of_another_graph_is_refused(tmp_path):
    path = tmp_path / "a.json"
    sepool.coding_tree([(0, 1)], 1).save(path)
    with pytest.raises(ValueError, match=r"a.json: the tree has 2 leaves, but the graph has 4"):
        read_clustering(path, ABCD)


def test_read_clustering_equal_names_are_refused(write):
    graph = nx.Graph([(1, "1")])
    with pytest.raises(ValueError, match="several nodes of the graph have the same name"):
        read_clustering(write("1,0\n1,0\n", "a.csv"), graph)


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_read_clustering_compressed_file_is_read(tmp_path, ending):
    lines = b"# node_id module flow\na 1 0.5\nb 1 0.5\nc 2 0.5\nd 2 0.5\n"
    if ending == ".gz":
        packed = gzip.compress(lines)
    else:
        packed = pytest.importorskip("pyarrow").compress(lines, "zstd", asbytes=True)
    path = tmp_path / f"clusters.clu{ending}"
    path.write_bytes(packed)
    assert read_clustering(path, [("a", "b"), ("c", "d")]).labels(1).tolist() == [0, 0, 1, 1]


def test_read_clustering_infomap_tree_long_number_takes_linear_time(tmp_path):
    path = tmp_path / "a.tree"
    path.write_text('1:1 0.25 "a" ' + "8" * 60_000 + "x\n")
    with pytest.raises(ValueError, match="expected 'path flow"):
        read_clustering(path, [(0, 1)], format="infomap-tree")


def test_read_clustering_table_of_empty_fields_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"",""\n')
    with pytest.raises(ValueError, match=r"a\.csv: no rows in this table"):
        read_clustering(path, [(0, 1)], format="table")
