"""Files that would fill the memory, and compressed files without their ending."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys

import numpy as np
import pytest

import sepool
from sepool.scores.formats.read import read_clustering

LINES = b"0 1\n1 2\n" * 200_000  # 1.6 MB


@pytest.mark.parametrize("name", ["a.txt.gz", "a.csv.gz", "a.graphml.gz", "a.gml.gz", "a.mtx.gz"])
def test_read_bomb_ends_at_the_limit(tmp_path, monkeypatch, name):
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(gzip.compress(LINES))
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.001")
    with pytest.raises(ValueError, match=r"gz: the content unpacks to more than 0\.001 GB; set SE"):
        sepool.as_graph(path)


def test_read_bomb_below_a_raised_limit_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(LINES))
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.0016")
    assert sepool.as_graph(path).num_nodes == 3


def test_read_zstd_bomb_ends_at_the_limit(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "a.txt.zst"
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
        out.write(LINES)
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.001")
    with pytest.raises(ValueError, match="unpacks to more than"):
        sepool.as_graph(path)


def test_read_sparse_matrix_bomb_ends_at_the_limit(tmp_path, monkeypatch):
    scipy = pytest.importorskip("scipy.sparse")
    path = tmp_path / "a.npz"
    scipy.save_npz(path, scipy.csr_array(np.eye(3)))
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.0000001")
    with pytest.raises(ValueError, match=r"npz: it unpacks to more than 1e-07 GB"):
        sepool.as_graph(path)


def test_read_tree_bomb_ends_at_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "tree.npz"
    sepool.coding_tree([(0, 1), (1, 2)], 2).save(path)
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.0000001")
    with pytest.raises(sepool.TreeFormatError, match=r"npz: it unpacks to more than 1e-07 GB"):
        sepool.CodingTree.load(path)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.txt.gz", "a.adjlist"])
def test_read_endless_line_ends_at_the_limit(tmp_path, monkeypatch, name):
    pytest.importorskip("networkx")
    path = tmp_path / name
    line = b"0,1\n" + b"7" * 4_000_000
    path.write_bytes(gzip.compress(line) if name.endswith(".gz") else line)
    monkeypatch.setenv("SEPOOL_MAX_LINE_MB", "1")
    with pytest.raises(ValueError, match="a line has more than 1 MB; set SEPOOL_MAX_LINE_MB to"):
        sepool.as_graph(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no /dev/zero here")
@pytest.mark.parametrize("format", ["edgelist", "csv", "gml", "mtx", "npz", "arrow", "parquet"])
def test_read_endless_device_ends_with_a_reason(monkeypatch, format):
    for package in ("pyarrow", "scipy", "igraph"):
        pytest.importorskip(package)
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.01")
    monkeypatch.setenv("SEPOOL_MAX_LINE_MB", "1")
    with pytest.raises(ValueError, match=r"^/dev/zero: .*more than (0\.01 GB|1 MB)"):
        sepool.as_graph("/dev/zero", format=format)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no /dev/zero here")
def test_read_clustering_endless_device_ends_with_a_reason(monkeypatch):
    monkeypatch.setenv("SEPOOL_MAX_UNPACKED_GB", "0.01")
    with pytest.raises(ValueError, match=r"more than 0\.01 GB"):
        read_clustering("/dev/zero", [(0, 1)])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (bz2.compress(LINES)[:15], "a bzip2 file"),
        (bz2.compress(b""), "a bzip2 file"),
        (lzma.compress(LINES)[:15], "an xz file"),
    ],
)
@pytest.mark.parametrize("name", ["graph.txt", "graph"])
def test_read_other_compression_is_no_edge_list(tmp_path, name, content, kind):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"this is no edge list but {kind}; unpack it"):
        sepool.as_graph(path)


def test_read_long_file_of_text_is_as_by_numpy(tmp_path):
    """Lines across the blocks that files are read in."""
    pairs = np.random.default_rng(0).integers(0, 3000, (250_000, 2))
    text = io.BytesIO()
    np.savetxt(text, pairs, "%d")
    path = tmp_path / "graph.txt.gz"
    path.write_bytes(gzip.compress(text.getvalue(), 1))
    graph, expected = sepool.as_graph(path), sepool.as_graph(pairs)
    assert graph.num_edges == expected.num_edges
    assert np.array_equal(graph.degrees(), expected.degrees())


def test_read_blank_and_comment_lines_of_adjacency_lists_are_skipped(tmp_path):
    pytest.importorskip("networkx")
    path = tmp_path / "a.adjlist"
    path.write_text("0 1 2\n\n  # none\n1 2\n")
    assert sepool.as_graph(path).num_edges == 3


@pytest.mark.parametrize("content", ["0;1\n1;2\n", "from;to;w\n0;1;2\n"])
def test_read_table_with_the_ending_of_gzip_is_read_as_it_is(tmp_path, content):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.csv.gz"
    path.write_text(content)
    assert sepool.as_graph(path).num_nodes in (2, 3)


@pytest.mark.parametrize(
    "error", [IndexError("list index"), SystemError("bad"), OSError("inflate")]
)
def test_read_any_error_of_a_library_names_the_file(tmp_path, monkeypatch, error):
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n")

    def fail(*_):
        raise error

    monkeypatch.setattr(scipy_io, "mmread", fail)
    with pytest.raises(ValueError, match=r"a\.mtx: this file cannot be read \(\w+Error: "):
        sepool.as_graph(path)


def test_read_matrix_market_without_a_last_line_break_leaves_the_process_alive(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 2\n2 1 2\n3 1 2*")
    code = f"import sepool; print(sepool.as_graph({str(path)!r}).num_edges)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr  # no signal


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("3 3 2\n2 1 2\n3\n3 1 2\n", ":5: expected 3 numbers, got '3'"),
        ("3 3 2\n2 1 2\n3 1 2 %%Ma\0rk\n", ":5: expected 3 numbers, got "),
        ("3 3 1\n2 1 2\n\n3 1 2\n", ": expected 1 entries, as the header states, got 2"),
        ("3 3 3\n2 1 2\n", ": expected 3 entries, as the header states, got 1"),
    ],
)
def test_read_matrix_market_with_bad_lines_is_refused(write, body, message):
    pytest.importorskip("scipy")
    path = write(f"%%MatrixMarket matrix coordinate real symmetric\n%\n{body}".encode(), "a.mtx")
    with pytest.raises(ValueError, match=rf"a\.mtx{message}"):
        sepool.as_graph(path)


def test_read_comments_of_other_encodings_are_skipped_by_both_readers(write):
    for name in ("a.txt", "b.txt"):  # by NumPy, and line by line
        path = write(b"% caf\xe9\0\n0 1\n" if name == "a.txt" else b"% caf\xe9\0\na b\n", name)
        assert sepool.as_graph(path).num_edges == 1
