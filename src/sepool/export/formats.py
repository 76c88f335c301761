"""The files of a tree: one format an ending, written whole or not at all."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, TYPE_CHECKING, NamedTuple

from sepool.export.streams import compressed
from sepool.extras import needs
from sepool.files.atomic import StrPath, atomic_write
from sepool.files.tree import SUFFIXES, TreeFields, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from sepool.tree import CodingTree

    Writer = Callable[[CodingTree, IO[bytes]], None]


class Format(NamedTuple):
    """A format: its writer, and the package of the extra io that it needs."""

    writer: str
    package: str = ""
    labels: bool = False  # a table of nodes, for `sepool tree --labels`
    text: bool = True  # may be gzipped


FORMATS = {
    ".csv": Format("tables:write_csv", labels=True),
    ".tsv": Format("tables:write_tsv", labels=True),
    ".parquet": Format("tables:write_parquet", "pyarrow", labels=True, text=False),
    ".clu": Format("infomap:write_clu", labels=True),
    ".tree": Format("infomap:write_tree"),
    ".nwk": Format("newick:write_newick"),
    ".graphml": Format("graphml:write_graphml", "networkx"),
    ".d3.json": Format("d3:write_d3"),
}
LABEL_ENDINGS = tuple(ending for ending, format in FORMATS.items() if format.labels)
ENDINGS = (*SUFFIXES, *FORMATS)


class Ending(NamedTuple):
    """The ending of a path, in lower case, and the compression after it."""

    name: str
    gzipped: bool


def ending_of(path: StrPath, endings: tuple[str, ...] = ENDINGS) -> Ending:
    """Return the ending of a file, among those allowed; fail if its package is not installed.

    Example:
        >>> ending_of("clusters.csv.gz")
        Ending(name='.csv', gzipped=True)
        >>> ending_of("tree.docx", (".csv", ".clu"))
        Traceback (most recent call last):
        ValueError: expected a file that ends in .csv, .clu, text also in .gz, got 'tree.docx'
    """
    name = os.path.basename(os.fspath(path)).lower()
    plain = name.removesuffix(".gz")
    fitting = [ending for ending in endings if plain.endswith(ending)]
    ending = max(fitting, key=len, default="")  # .d3.json is no .json
    gzipped = plain != name
    format = FORMATS.get(ending)
    if not ending or (gzipped and not (format and format.text)):
        raise ValueError(
            f"expected a file that ends in {', '.join(endings)}, text also in .gz, "
            f"got {os.fspath(path)!r}"
        )
    if format and format.package:
        with needs("io", f"a {ending} file"):
            import_module(format.package)
    return Ending(ending, gzipped)


def write(tree: CodingTree, path: StrPath) -> None:
    """Write a tree in the format of the path's ending, whole or not at all.

    Raises:
        ValueError: the ending is of no format, or the format cannot hold the tree.
        TypeError: the format cannot hold a name.
    """
    ending, gzipped = ending_of(path)
    if ending in SUFFIXES:
        write_tree(path, TreeFields(*(getattr(tree, name) for name in TreeFields._fields)))
        return
    module, _, function = FORMATS[ending].writer.partition(":")
    writer: Writer = getattr(import_module(f"sepool.export.{module}"), function)
    with atomic_write(path) as file, compressed(file, gzipped) as inner:
        writer(tree, inner)
