"""Format of a graph file: by its ending, by its content where the ending leaves it open."""

from __future__ import annotations

import re

from sepool.graph.formats.dialect import Dialect, sniff
from sepool.graph.formats.opening import GraphFile

FORMATS = {  # their endings
    "edgelist": (".edgelist", ".edges", ".txt", ".el", ".ncol", ".dat", ""),
    "csv": (".csv", ".tsv", ".tab", ".ssv"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "graphml": (".graphml",),
    "gml": (".gml",),
    "gexf": (".gexf",),
    "pajek": (".net", ".pajek", ".paj"),
    "mtx": (".mtx", ".mm"),
    "npz": (".npz",),
    "adjlist": (".adjlist",),
}
_BY_ENDING = {end: name for name, ends in FORMATS.items() if name != "edgelist" for end in ends}
_ALIASES = {"tsv": "csv", "feather": "arrow", "net": "pajek"}
# The beginning of a file of a format, in lower case.
_BEGINNINGS = {
    "mtx": rb"%%matrixmarket",
    "gml": rb'graph\s*\[|creator\s+"[^"]*"\s+(version\s+\S+\s+)?graph\s*\[',
    "pajek": rb"\*(network|vertices)\b",
    "graphml": rb"(<[?!][^>]*>\s*)*<graphml\b",
    "gexf": rb"(<[?!][^>]*>\s*)*<gexf\b",
    "parquet": rb"par1",
    "arrow": rb"arrow1|fea1",
    "npz": rb"pk\x03\x04.{0,60}(indices|row|format|data)\.npy",
}
_REFUSED = {
    (".xlsx", ".xls", ".ods"): "a spreadsheet; save it as CSV",
    (".pkl", ".pickle", ".gpickle"): "a pickle, which may run code; load it and pass the graph",
    (".bz2", ".xz", ".zip", ".7z", ".rar"): "an archive; unpack it, or compress it with gzip",
    (".db", ".sqlite", ".sqlite3", ".h5", ".hdf5"): "a database; export the edges as CSV",
}
_WITH_DATA = re.compile(r"\s*\S+\s+\S+\s+\{.*\}\s*")


def checked_format(name: str | None) -> str | None:
    """Return the name of a format without alias; fail on an unknown one.

    Example:
        >>> checked_format("tsv")
        'csv'
    """
    if name is None:
        return None
    name = _ALIASES.get(name.lower(), name.lower())
    if name not in FORMATS:
        raise ValueError(f"the format must be one of {', '.join(FORMATS)}, got {name!r}")
    return name


def format_of(file: GraphFile) -> str:
    """Return the format of a file by its ending, or else by its content."""
    ending = ending_of(file.path)
    for endings, description in _REFUSED.items():
        if ending in endings:
            raise ValueError(f"this is {description}")
    return _BY_ENDING.get(ending) or _by_content(file.head)


def ending_of(path: str) -> str:
    """Return the ending of a path in lower case, without those of compression.

    Example:
        >>> ending_of("data/Karate.GML.gz")
        '.gml'
    """
    name = re.split(r"[/\\]", path)[-1].lower()
    for packed in (".gz", ".zst", ".zstd"):
        name = name.removesuffix(packed)
    stem, point, ending = name.rpartition(".")
    return point + ending if stem else ""


def has_data(dialect: Dialect) -> bool:
    r"""Return True if the lines of a file end with the data of edges, as networkx writes them.

    Example:
        >>> has_data(sniff(b"0 1 {'weight': 2}\n"))
        True
    """
    return bool(dialect.lines) and _WITH_DATA.fullmatch(dialect.lines[0]) is not None


def _by_content(head: bytes) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for name, beginning in _BEGINNINGS.items():
        if re.match(beginning, start[:4096], re.DOTALL):
            return name
    dialect = sniff(head)
    if has_data(dialect):
        return "edgelist"
    has_header = dialect.header is not None and dialect.single_blanks
    if has_header or (dialect.separator == ";" and dialect.regular):
        return "csv"
    return "edgelist"
