from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepool.graph.edges import Edges
from sepool.graph.formats.edge_list import read_edge_list


def rows(edges: Edges) -> list[tuple[int, int, float]]:
    w = np.ones(len(edges.u)) if edges.w is None else edges.w
    return list(zip(edges.u.tolist(), edges.v.tolist(), w.tolist(), strict=True))


def test_read_edge_list_skips_comments(write):
    edges = read_edge_list(write("# a comment\n% another\n\n0 1\n1 2\n2 0"))
    assert rows(edges) == [(0, 1, 1), (1, 2, 1), (2, 0, 1)]
    assert (edges.num_nodes, edges.names, edges.both) == (3, None, False)


@pytest.mark.parametrize("separator", [" ", "\t", ",", ", ", " \t "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("names", [("0", "1", "2"), ("a", "b", "c")])
def test_read_edge_list_separators_and_line_ends_agree(write, separator, newline, names):
    a, b, c = names
    lines = [separator.join([a, b, "0.5"]), separator.join([b, c, "2e1"]), ""]
    edges = read_edge_list(write(newline.join(lines)))
    assert rows(edges) == [(0, 1, 0.5), (1, 2, 20)]
    assert edges.names == (names if a == "a" else None)


def test_read_edge_list_numbers_are_sorted_names_are_not(write):
    assert read_edge_list(write("zoe bob\nbob ann\n")).names == ("zoe", "bob", "ann")
    edges = read_edge_list(write("30 7\n7 100\n"))
    assert edges.names == (7, 30, 100)
    assert rows(edges) == [(1, 0, 1), (0, 2, 1)]
    assert read_edge_list(write("5000000000 -1\n")).names == (-1, 5000000000)


def test_read_edge_list_line_with_one_name_is_a_node(write):
    edges = read_edge_list(write("0 1\n3\n2\n"))
    assert (edges.num_nodes, edges.names, rows(edges)) == (4, None, [(0, 1, 1)])


def test_read_edge_list_commas_allow_blanks_in_names(write):
    assert read_edge_list(write("New York,São Paulo,3\n")).names == ("New York", "São Paulo")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('"New York","São Paulo",3', ("New York", "São Paulo")),
        ('"Washington, D.C.", Paris', ("Washington, D.C.", "Paris")),
        ('"the ""Rock""",Paris', ('the "Rock"', "Paris")),
        ('5" disk,Paris', ('5" disk', "Paris")),
        ('"New York"', ("New York",)),
        ('"ann" "bob"', ("ann", "bob")),
        ('"New York"  Paris 2', ("New York", "Paris")),
        ('"ann" bob\n"ann"\n', ("ann", "bob")),
        ('"the ""Duke""" ann', ('the "Duke"', "ann")),
        ('5" 6"', ('5"', '6"')),
    ],
)
def test_read_edge_list_quotation_marks_are_removed(write, line, names):
    assert read_edge_list(write(f"{line}\n", "graph.csv")).names == names


def test_read_edge_list_quoted_numbers_are_numbers(write):
    edges = read_edge_list(write('"10","2","0.5"\n"2","3","1"\n'))
    assert (rows(edges), edges.names) == ([(2, 0, 0.5), (0, 1, 1)], (2, 3, 10))


@pytest.mark.parametrize("line", ['"New York,Paris', '"New" York,Paris'])
def test_read_edge_list_misplaced_quotation_marks_are_refused(write, line):
    with pytest.raises(
        ValueError, match=r":2: a closing quotation mark must stand before a comma or at the end"
    ):
        read_edge_list(write(f"a,b\n{line}\n"))


def test_read_edge_list_byte_order_mark_is_skipped(write):
    edges = read_edge_list(write(b"\xef\xbb\xbf0 1\n# half way\n1 2\n"))
    assert rows(edges) == [(0, 1, 1), (1, 2, 1)]


def test_read_edge_list_gzip_is_recognised_by_content(write):
    assert rows(read_edge_list(write(gzip.compress(b"0 1\n"), "graph.dat"))) == [(0, 1, 1)]
    assert read_edge_list(write(gzip.compress(b"a b\n"), "graph.gz")).names == ("a", "b")


def test_read_edge_list_reads_a_pipe_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("0 1\n1 2\n",))
    writer.start()
    assert rows(read_edge_list(pipe)) == [(0, 1, 1), (1, 2, 1)]
    writer.join()


ids = st.integers(-3, 40) | st.integers(0, 10**12) | st.integers(-(2**63), 2**63 - 1)
weights = st.none() | st.integers(0, 9) | st.floats(0, 1e9)


@given(st.lists(st.tuples(ids, ids), min_size=1), weights, st.sampled_from([" ", "\t", ","]))
def test_read_edge_list_both_readers_agree(tmp_path_factory, pairs, weight, separator):
    path = tmp_path_factory.mktemp("io") / "graph.txt"
    end = "" if weight is None else f"{separator}{weight}"
    path.write_text("".join(f"{u}{separator}{v}{end}\n" for u, v in pairs))
    fast = read_edge_list(path)
    path.write_text(f"{path.read_text()}# a comment below edges is for the reader of lines\n")
    slow = read_edge_list(path)
    assert (rows(fast), fast.num_nodes, fast.names) == (rows(slow), slow.num_nodes, slow.names)


@pytest.mark.parametrize("sign", [b"\xa0", b"\x85"])
@pytest.mark.parametrize("end", ["", "# a comment below edges is for the reader of lines\n"])
def test_read_edge_list_blanks_of_latin1_are_no_utf8_in_both_readers(write, sign, end):
    with pytest.raises(ValueError, match=r":2: this is no text in UTF-8"):
        read_edge_list(write(b"0 1\n1" + sign + b"2\n" + end.encode()))
    with pytest.raises(ValueError, match=r":1: this is no text in UTF-8"):
        read_edge_list(write(b"1" + sign + b"2\n0 1\n" + end.encode()))


@pytest.mark.parametrize("end", ["", "# a comment below edges is for the reader of lines\n"])
def test_read_edge_list_no_break_spaces_are_blanks_in_both_readers(write, end):
    assert rows(read_edge_list(write(f"0 1\n1\u00a02\n{end}"))) == [(0, 1, 1), (1, 2, 1)]


@pytest.mark.parametrize("single", ["", "5\n"])
def test_read_edge_list_ids_of_64_bits_are_numbers(write, single):
    """A single node makes the file one for the reader of lines."""
    names = read_edge_list(write(f"9223372036854775807 5\n5 1000000000000000000\n{single}")).names
    assert names == (5, 10**18, 2**63 - 1)
    names = read_edge_list(write(f"9223372036854775808 5\n5 1000000000000000000\n{single}")).names
    assert names == ("9223372036854775808", "5", "1000000000000000000")


def test_read_edge_list_fractions_are_names(write):
    """NumPy before 2.4 reads 1.5 as 1, with a warning."""
    assert read_edge_list(write("1.5 2\n1 2\n")).names == ("1.5", "2", "1")


def test_read_edge_list_semicolons_are_no_separators(write):
    with pytest.raises(ValueError, match=r":2: expected blanks, tabs or commas .*, got 'a;b;1'"):
        read_edge_list(write("# a table\na;b;1\n"))
    assert read_edge_list(write("a;b c;d\n")).names == ("a;b", "c;d")


class TestBadFiles:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("1 2 3 4", "expected 'u v' or 'u v weight', got '1 2 3 4'"),
            ("1,,2", "expected 'u v' or 'u v weight', got '1,,2'"),
            ("1,2,", "expected 'u v' or 'u v weight'"),
            ("1 2 heavy", "a weight must be a finite number and not negative, got 'heavy'"),
            ("1 2 -1", "not negative, got '-1'"),
            ("1 2 nan", "not negative, got 'nan'"),
            ("1 2 1e999", "not negative, got '1e999'"),
            ("1 2 1_000", "not negative, got '1_000'"),
            ("1 2 \uff11\uff12", "not negative, got '\uff11\uff12'"),
            ("1 2 \u0663", "not negative, got '\u0663'"),
            ("1 2 0x10", "not negative, got '0x10'"),
            ("1 2 # note", "expected 'u v' or 'u v weight'"),
        ],
    )
    @pytest.mark.parametrize("first", ["# comment\n\n0 1\n", "\na b\n0 1 2.5\n", "0,1,1\n\n\n"])
    def test_malformed_line_is_named(self, write, line, message, first):
        path = write(f"{first}{line}\n1 2\n")
        with pytest.raises(ValueError, match=message) as caught:
            read_edge_list(path)
        assert str(caught.value).startswith(f"{path}:4: ")

    @pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
    def test_empty_file_is_refused(self, write, content):
        with pytest.raises(ValueError, match="no edges in this file"):
            read_edge_list(write(content))

    @pytest.mark.parametrize("keep", [12, -9, -4])
    def test_truncated_gzip_is_refused(self, write, keep):
        whole = gzip.compress("".join(f"{i} {i * i}\n" for i in range(9999)).encode())
        with pytest.raises(ValueError, match="truncated or damaged gzip"):
            read_edge_list(write(whole[:keep], "graph.gz"))

    def test_damaged_gzip_is_refused(self, write):
        whole = bytearray(gzip.compress(b"0 1\n" * 1000))
        whole[12] ^= 0xFF
        with pytest.raises(ValueError, match="truncated or damaged gzip"):
            read_edge_list(write(bytes(whole)))

    @pytest.mark.parametrize(
        "junk", [bytes(range(256)), b"\x89PNG\r\n\x1a\n\0\0", b"a b\n\xff\xfe c"]
    )
    def test_binary_file_is_refused(self, write, junk):
        with pytest.raises(ValueError, match=r":\d+: (this is no text|expected 'u v')"):
            read_edge_list(write(junk))


@pytest.mark.parametrize(
    "header",
    [
        *("source,target", "Source Target", "from\tto", "node1,node2"),
        *("source,target,weight", '"Source","Target","Weight"', "u v weight", "a,b,Weight"),
    ],
)
def test_read_edge_list_column_names_are_refused(header, tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text(f"# made by hand\n{header}\na b\nb c\n")
    with pytest.raises(ValueError, match=r"graph\.csv:2: this looks like the names of columns"):
        read_edge_list(path)
    if "eight" not in header:
        path.write_text(f"a b\n{header}\n")  # below the first line they are nodes
        assert len(read_edge_list(path).names) == 4


def test_read_edge_list_too_many_columns_are_refused(write):
    message = "this looks like the names of columns; .*, and keep no columns but the two ends and"
    with pytest.raises(ValueError, match=rf":1: {message} the weight"):
        read_edge_list(write("Source,Target,Type,Weight\n1,2,Undirected,1.0\n"))


def test_read_edge_list_first_weight_that_is_a_word_is_refused(write):
    with pytest.raises(ValueError, match=r":1: a weight .* got 'heft'; if the line names columns"):
        read_edge_list(write("ann,bob,heft\n1,2,1.0\n"))
    with pytest.raises(ValueError, match=r":2: a weight .* got 'heft'$"):
        read_edge_list(write("1,2,1.0\nann,bob,heft\n"))


@pytest.mark.parametrize("zipped", [False, True])
def test_read_edge_list_reads_standard_input(zipped, tmp_path):
    lines, path = b"a b\nb c 2\n", tmp_path / "graph"
    path.write_bytes(gzip.compress(lines) if zipped else lines)
    script = "import sepool; print(sepool.as_graph('-').names)"
    with open(path, "rb") as file:
        run = subprocess.run([sys.executable, "-c", script], stdin=file, capture_output=True)
    assert run.stdout.decode().strip() == "('a', 'b', 'c')", run.stderr
