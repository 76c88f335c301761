"""Sparse adjacency matrices: Matrix Market files, and those of scipy.sparse.save_npz."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sepool.extras import needs
from sepool.files.limits import BeyondLimit, check_archive
from sepool.graph.edges import Edges, refuse_directed
from sepool.graph.formats.matrix_lines import check_matrix_lines
from sepool.graph.formats.opening import GraphFile
from sepool.graph.formats.options import FileOptions
from sepool.graph.objects.scipy import from_scipy

_DAMAGED = (  # the errors of libraries on damaged archives
    *(LookupError, EOFError, OSError, ValueError, TypeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


def read_mtx(file: GraphFile, options: FileOptions) -> Edges:
    """Read a Matrix Market file."""
    with needs("io", f"reading {file.path}"):
        import scipy.io
        import scipy.sparse
    words = file.head[:200].split(b"\n", 1)[0].decode("latin1").split()
    with file.on_disk() as path, _ended(path) as whole:
        check_matrix_lines(whole)  # of damaged ones SciPy may abort the process
        matrix = scipy.sparse.coo_array(scipy.io.mmread(whole))
    return _edges(file, matrix, options, " ".join(["Matrix Market", *words[3:5]]))


@contextmanager
def _ended(path: str) -> Iterator[str]:
    """Return a file that ends with a line break, beyond which SciPy reads without one."""
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        ended = file.read() == b"\n"
    if ended:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="sepool-") as folder:
        copy = shutil.copyfile(path, os.path.join(folder, "graph"))
        with open(copy, "ab") as file:
            file.write(b"\n")
        yield copy


def read_npz(file: GraphFile, options: FileOptions) -> Edges:
    """Read a sparse matrix of SciPy."""
    with needs("io", f"reading {file.path}"):
        import scipy.sparse
    try:
        content = file.seekable()
        check_archive(content)
        matrix = scipy.sparse.load_npz(content)
    except BeyondLimit:
        raise
    except _DAMAGED as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"this is no whole file of scipy.sparse.save_npz ({reason})") from None
    return _edges(file, matrix, options, "sparse matrix")


def _edges(file: GraphFile, matrix: Any, options: FileOptions, name: str) -> Edges:
    """Return the edges of a symmetric matrix, or of another one as arcs."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix is square, got shape {matrix.shape}")
    directed = bool((matrix != matrix.T).nnz)
    refuse_directed(directed, options.symmetrise, f"{name}, not symmetric")
    edges = from_scipy(matrix, options.weight, symmetrise=directed)
    unit = edges.w is None or bool((edges.w == 1).all())
    file.note(
        f"{name}; {'directed' if directed else 'undirected'}; "
        f"{'no weights' if unit or options.weight is None else 'values are weights'}"
    )
    return edges._replace(directed=directed)
