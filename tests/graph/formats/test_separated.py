"""Tables in text files, Parquet and Arrow: headers, separators, columns, bad values."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import sepool

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "source,target,weight\na,b,2\n",
            "comma-separated, header; columns source, target, weight",
        ),
        ("a,b,2\n", "comma-separated, no header; columns are two ends and a weight"),
        ("a;b;2\n", "semicolon-separated, no header; columns 1, 2, 3"),
        ("from\tto\tw\na\tb\t2\n", "tab-separated, header; columns from, to, w"),
        ("a;b;2,0\n", "semicolon-separated, no header; columns 1, 2, 3; decimal commas"),
        (
            "id,Source,Target,Type,Weight\n7,a,b,Undirected,2\n",
            "comma-separated, header; columns Source, Target, Weight; ignored id, Type",
        ),
        (
            '# made by hand\n\n"src","dst","count"\n"a","b",2\n',
            "comma-separated, header; columns s",
        ),
        (
            "\ufeffsource,target,value\r\na, b ,2\r\n",
            "comma-separated, header; columns source, tar",
        ),
    ],
)
def test_read_separated_layouts_agree_and_are_logged(write, caplog, text, note):
    caplog.set_level(logging.INFO, "sepool")
    path = write(text, "graph.csv")
    graph = sepool.as_graph(path)
    assert caplog.messages[0].startswith(f"{path}: {note}")
    assert graph.names == ("a", "b")
    assert graph.total_volume == 4


def test_read_separated_without_weights(write, caplog):
    caplog.set_level(logging.INFO, "sepool")
    assert sepool.as_graph(write("u,v\n0,1\n1,2\n", "graph.csv")).weights is None
    assert caplog.messages[0].endswith("header; columns u, v; no weights")
    path = write("source,target,weight\n0,1,heavy\n", "graph.csv")
    assert sepool.as_graph(path, weight=None).weights is None


@pytest.mark.parametrize(
    ("columns", "volume"),
    [
        (("a", "b"), 4),
        (("a", "b", "heft"), 7),
        (("B", "a", "age"), 16),
        (("1", "2", "4"), 16),
        (("b", "age"), 2),
    ],
)
def test_read_separated_columns_may_be_chosen(write, columns, volume):
    path = write("a,b,heft,age\n1,2,3,5\n2,3,0.5,3\n", "graph.csv")
    assert sepool.as_graph(path, columns=columns).total_volume == volume
    pd.read_csv(path).to_parquet(path.with_suffix(".parquet"))
    assert sepool.as_graph(path.with_suffix(".parquet"), columns=columns).total_volume == volume


def test_read_separated_columns_without_header_have_numbers(write):
    path = write("x,1,2,5\ny,2,3,4\n", "graph.csv")
    with pytest.raises(
        ValueError, match=r"graph\.csv: no customary names .* columns are 1, 2, 3, 4"
    ):
        sepool.as_graph(path)
    assert sepool.as_graph(path, columns=("2", "3", "4")).total_volume == 18
    assert sepool.as_graph(write("1 2 3 4\n"), columns=("1", "4")).names == (1, 4)


def test_read_separated_columns_that_fit_in_two_ways_are_refused(write):
    path = write("source,target,from,to,w,count\na,b,c,d,1,2\n", "graph.csv")
    with pytest.raises(ValueError, match=r"could be \('source', 'target'\) or \('from', 'to'\)"):
        sepool.as_graph(path)
    path = write("source,target,w,count\na,b,1,2\n", "graph.csv")
    with pytest.raises(ValueError, match=r"weights could be in w, count; choose one"):
        sepool.as_graph(path)


def test_read_separated_weight_names_a_column(write):
    path = write("source,target,weight,trust\na,b,1,3\n", "graph.csv")
    assert sepool.as_graph(path, weight="trust").total_volume == 6
    with pytest.raises(
        ValueError, match=r"no column 'heft'; the columns are source, target, weight"
    ):
        sepool.as_graph(path, weight="heft")


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (["0,1", "1,2"], None),
        (["30,7", "7,100"], (7, 30, 100)),
        (["01,1", "1,2"], ("01", "1", "2")),
        (["zoe,bob", "bob,ann"], ("zoe", "bob", "ann")),
        (["9223372036854775808,5", "5,6"], ("9223372036854775808", "5", "6")),
        (["1.5,2", "2,3"], ("1.5", "2", "3")),
        (["-3,+3", "+3,0"], ("-3", "+3", "0")),
        (['"New York, NY",São Paulo', "São Paulo,New York"],
         ("New York, NY", "São Paulo", "New York")),
    ],
)  # fmt: skip
def test_read_separated_names_are_those_of_edge_lists(write, rows, names):
    table = sepool.as_graph(write("\n".join(["source,target", *rows]), "graph.csv"))
    plain = sepool.as_graph(write("\n".join([*rows, "# a comment"]), "graph.txt"))
    assert table.names == plain.names == names
    np.testing.assert_array_equal(table.indices, plain.indices)


def test_read_separated_many_blocks_are_numbered_as_one(write):
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, 5000, (2, 300_000))
    rows = pd.DataFrame({"source": u, "target": v})
    names = rows.map("node {}".format)
    path = write(names.to_csv(index=False), "graph.csv")
    graph, expected = sepool.as_graph(path), sepool.as_graph(np.column_stack([u, v]))
    ids = np.array([int(name.split()[1]) for name in graph.names])
    assert graph.names == tuple(dict.fromkeys(names.to_numpy().ravel()))
    degrees = np.empty(expected.num_nodes)
    degrees[ids] = graph.degrees()
    np.testing.assert_array_equal(degrees, expected.degrees())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target,weight\na,b,1\n\na,c,heavy\n", ":4: a weight must be .*, got 'heavy'"),
        ("source,target,weight\na,b,1\na,c,\n", ":3: a weight must be .*, got ''"),
        ("source,target,weight\na,b,1\na,c,-2\n", ":3: a weight must be .*, got '-2'"),
        ("source,target,weight\na,b,nan\n", ":2: a weight must be .*, got '?nan"),
        ("source,target,weight\na,b,inf\n", ":2: a weight must be .*, got '?inf"),
        ("source,target\na,b\n# half way\n", ":3: expected 2 fields, got 1: '# half way'"),
        ("source,target\na,b\nc,d,1\n", ":3: expected 2 fields, got 3: 'c,d,1'"),
        ("source;target;weight\na;b;1,5\nb;c;1,2,3\n", ":3: a weight must be .*, got '1,2,3'"),
        ("source,target\na,b\n,c\n", ":3: no node in column 'source'; leave out rows"),
        ("source,target\n", ": no edges in this file"),
        ("# a comment\n", ": no edges in this file"),
        (
            "who,whom,since\na,b,2001\n",
            ": no customary names .*; the columns are who, whom",
        ),
        (
            "a,b,c,d\ne,f,g,h\n",
            ": no customary names of two ends, such as source and target; th",
        ),
    ],
)
def test_read_separated_bad_rows_are_named(write, text, message):
    with pytest.raises(ValueError, match=f"graph.csv{message}") as caught:
        sepool.as_graph(write(text, "graph.csv"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"source,target\na,b\nS\xe3o,c\n", ":3: this is no text in UTF-8; save the file"),
        ("source,target\na,b\n".encode("utf-16"), ": this is text in UTF-16; save the file in"),
    ],
)
def test_read_separated_other_encodings_are_refused(write, content, message):
    with pytest.raises(ValueError, match=f"graph.csv{message}"):
        sepool.as_graph(write(content, "graph.csv"))


def test_read_file_blanks_separate_a_table_one_at_a_time(write, caplog):
    caplog.set_level(logging.INFO, "sepool")
    graph = sepool.as_graph(write("source target weight\n3 5 2\n5 7 1\n"))
    assert (graph.names, graph.total_volume) == ((3, 5, 7), 6)
    assert "blank-separated, header; columns source, target, weight" in caplog.messages[0]
    with pytest.raises(ValueError, match=r":1: this looks like the names of columns"):
        sepool.as_graph(write("source  target\n3  5\n"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("a", "x"), "no column 'x'; the columns are a, b, heft"),
        (("a", "a"), "a column is chosen twice; the columns are a, b, heft"),
        (("a",), "columns must be two ends and perhaps a weight, got a"),
        (("1", "9"), "no column '9'; the columns are a, b, heft"),
    ],
)
def test_choose_columns_bad_choices_are_refused(write, columns, message):
    with pytest.raises(ValueError, match=message):
        sepool.as_graph(write("a,b,heft\n1,2,3\n", "graph.csv"), columns=columns)


def test_choose_columns_one_string_is_refused(write):
    with pytest.raises(TypeError, match=r"columns must be the names .*, got 'source,target'"):
        sepool.as_graph(write("0,1\n"), columns="source,target")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"source": ["a", None], "target": ["b", "c"]}, "row 1: no node in column 'source'"),
        ({"source": [1.0, 1.5], "target": [2, 3]}, "node ids must be whole numbers, got 1.5"),
        ({"source": [True], "target": [False]}, "node ids must be .*, got an array of bool"),
        (
            {"source": ["a"], "target": ["b"], "weight": ["2"]},
            ".* got '2' for edge 0",
        ),
        ({"source": ["a"], "target": ["b"], "weight": [-2.0]}, "row 0: a weight must .*, got -2"),
        ({"source": [2**63], "target": [1]}, r"node ids must be 0 to 2\^63 - 1, got 922337"),
        ({"a": [1], "b": [1], "c": [1]}, "no customary names .* the columns are a, b, c"),
        ({"source": [], "target": []}, "no edges in this file"),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_read_parquet_bad_values_are_named(tmp_path, table, message, ending):
    path = tmp_path / f"graph.{ending}"
    getattr(pd.DataFrame(table), f"to_{ending}")(path)
    with pytest.raises(ValueError, match=rf"graph\.{ending}: {message}") as caught:
        sepool.as_graph(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "float64", "category"])
def test_read_parquet_types_of_ids_agree(tmp_path, dtype):
    table = pd.DataFrame({"source": [0, 1, 3], "target": [1, 3, 0]}).astype(dtype)
    table.to_parquet(tmp_path / "graph.parquet")
    graph = sepool.as_graph(tmp_path / "graph.parquet")
    assert (graph.num_edges, graph.names) == (3, (0, 1, 3))


def test_read_parquet_words_that_do_not_occur_are_no_nodes(tmp_path):
    table = pd.DataFrame({"source": ["a", "x"], "target": ["b", "x"]}, dtype="category")
    table[:1].to_parquet(tmp_path / "graph.parquet")
    assert sepool.as_graph(tmp_path / "graph.parquet").names == ("a", "b")
