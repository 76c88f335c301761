"""Lines of an edge list, read from files."""

from __future__ import annotations

import contextlib
import time

import pytest
from tests.graph.formats.test_edge_list import rows

from sepool.graph.formats.edge_list import read_edge_list
from sepool.graph.graph import as_graph


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("New York\tParis", ("New York", "Paris")),
        ("Paris\tthe Route 66", ("Paris", "the Route 66")),
        ("Agent 1\tAgent 2\t5", ("Agent 1", "Agent 2")),
        ("alice\t\tbob", ("alice", "bob")),
        ("ann\t, bob", ("ann", "bob")),
        ("Smith, J\tDoe\t0.5", ("Smith, J", "Doe")),
        ('"Smith, J"\tDoe', ("Smith, J", "Doe")),
        ("ann,\tbob", ("ann", "bob")),
        ("sp|P1|A sp|Q2|B", ("sp|P1|A", "sp|Q2|B")),
        ("<a> <b>", ("<a>", "<b>")),
        ("[a] [b]", ("[a]", "[b]")),
    ],
)
def test_read_edge_list_tabs_allow_blanks_in_names(write, line, names):
    assert read_edge_list(write(f"{line}\n")).names == names


@pytest.mark.parametrize("line", ["ann bob\t2.5", "ann\tbob 2.5", "Paris\tRoute 66"])
def test_read_edge_list_ambiguous_tabs_are_refused(write, line):
    with pytest.raises(
        ValueError, match=r":2: tabs and blanks both separate, so .* use tabs alone"
    ):
        read_edge_list(write(f"a\tb\n{line}\n"))


@pytest.mark.parametrize("text", ["s t\ns 1\n1 2\n2 t\n", "root trunk 2.5\n1 2 1.0\n2 3 1\n"])
def test_read_edge_list_words_above_words_are_nodes(write, text):
    assert len(read_edge_list(write(text)).names) > 3


def test_read_edge_list_tabs_between_numbers_are_blanks(write):
    assert rows(read_edge_list(write("0 1\t0.5\n"))) == [(0, 1, 0.5)]
    assert rows(read_edge_list(write("# a comment\n0\t1 0.5\n2\n"))) == [(0, 1, 0.5)]


@pytest.mark.parametrize(
    "line", ["1 2 0,5", "0;1;0,5", "a; b", "a|b|1", "1;2 3;4", "0| 1"], ids=str
)
def test_read_edge_list_other_separators_are_refused(write, line):
    with pytest.raises(ValueError, match=r":1: expected blanks, tabs or commas between fields, an"):
        read_edge_list(write(f"{line}\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix coordinate real general\n3 5 3\n1 2 1\n", "a Matrix Market file"),
        ("graph [\n  node [\n    id 0\n", "a GML file; choose the format gml"),
        ('Creator "networkx"\ngraph [\n', "a GML file"),
        ("*Vertices 3\n1 a\n", "a Pajek file"),
        ('<?xml version="1.0"?>\n<graphml>\n', "XML"),
        ("digraph G {\n a -> b\n", "a DOT file"),
        ('{"nodes": [\n', "JSON"),
        ("[[0, 1], [1, 2]]\n", "JSON"),
        ("(0, 1)\n(1, 2)\n", "a list of Python tuples"),
        (b"PK\x03\x04\x14\x00\x00", "a zip archive"),
    ],
)
def test_read_edge_list_other_formats_are_named(write, text, message):
    with pytest.raises(ValueError, match=f":1: this is no edge list but {message}"):
        read_edge_list(write(text))


@pytest.mark.parametrize("header", ["u,v", "user,friend", "citing cited", "node_a\tnode_b"])
def test_read_edge_list_words_above_numbers_are_column_names(write, header):
    with pytest.raises(ValueError, match=r":2: this looks like the names of columns"):
        read_edge_list(write(f"# a comment\n{header}\n0 1\n1 2\n"))
    assert len(read_edge_list(write(f"{header}\n0 1\n1 me\n")).names) == 5


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("01001,01003\n01003,01005\n1001,01005\n", ("01001", "01003", "01005", "1001")),
        ("10 20\n+1 1\n", ("10", "20", "+1", "1")),
        ("0 -0\n", ("0", "-0")),
        ("7 8\n8 007\n", ("7", "8", "007")),
    ],
)
def test_read_edge_list_leading_zeros_and_signs_make_names(write, text, names):
    assert read_edge_list(write(text)).names == names


@pytest.mark.parametrize(
    "line",
    [
        "9" * 16_000 + "x",
        "1;" * 8_000 + "x",
        "1 " * 8_000 + "x",
        "0 1 " + "9" * 16_000,
        "9" * 16_000,
        "[1" + ",1" * 16_000 + "],[1",
        "1." * 16_000,
        "1e" + "9" * 16_000 + "x",
        "1" + " ;" * 16_000 + "x",
        '"a' * 16_000,
        "graph " + "{" * 16_000 + "x",
    ],
    ids=[
        *("digits", "semicolons", "blanks", "weight", "id", "lists"),
        *("points", "exponent", "separators", "quotes", "braces"),
    ],
)
def test_read_edge_list_long_lines_take_linear_time(write, line):
    before = time.process_time()
    with contextlib.suppress(ValueError):
        as_graph(write(f"{line}\n"))
    assert time.process_time() - before < 1
