"""One line of an edge list: its fields, and the refusal of lines that are none."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence

from sepool.graph.columns import HEADERS, WEIGHTS

# Every pattern below takes time linear in the line: a digit belongs to one of its parts alone.
_DIGITS = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER = re.compile(_DIGITS)
_NUMBERS = re.compile(rf"{_DIGITS}(?:\s+{_DIGITS})*")
_JOINED = re.compile(rf"{_DIGITS}(?:[\s;|]+{_DIGITS})+")
_WORD = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
# The beginning of files in other formats, in lower case.
_FORMATS = {
    "a Matrix Market file; choose the format mtx": rb"%%matrixmarket",
    "a GML file; choose the format gml": rb'graph\s*(\[|$)|creator\s+"',
    "a Pajek file; choose the format pajek": rb"\*(network|vertices)\b",
    "XML; choose the format graphml or gexf": rb"<(\?xml|graphml|gexf|!doctype)\b",
    "a DOT file; networkx reads it with pydot": rb"(strict\s+)?(di)?graph\b.*\{",
    "JSON; pass the graph itself": rb'[\[{]\s*($|["\[{])',
    "a list of Python tuples; pass the list itself": (
        rb"[\[(][^\[\](),]*,[^\[\]()]*[\])](\s*,)?\s*$"
    ),
    "a zip archive; unpack it": rb"pk\x03\x04",
    "a bzip2 file; unpack it, or compress it with gzip": rb"bzh[1-9](1ay&sy|\x17re8p\x90)",
    "an xz file; unpack it, or compress it with gzip": rb"\xfd7zxz\0",
}
_SHOWN = 80  # characters of a line in an error


def refuse_format(line: bytes) -> None:
    """Fail if the first line of a file is that of another format."""
    start = line.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for description, beginning in _FORMATS.items():
        if re.match(beginning, start):
            raise ValueError(f"this is no edge list but {description}")


def refuse_header(fields: Sequence[str], certain: bool = False) -> None:
    """Fail if the first line names columns, which would become nodes.

    Args:
        fields: of the line.
        certain: every line below holds numbers alone, so words here are column names; otherwise
            only customary column names count.
    """
    words = tuple(field.lower() for field in fields)
    if words[:2] in HEADERS or (len(words) == 3 and words[2] in WEIGHTS):
        certain = True
    elif certain:
        certain = not any(map(_NUMBERS.fullmatch, words))
    if not certain:
        return
    remedy = "begin the line with # to leave it out"
    if len(fields) > 3:
        remedy += ", and keep no columns but the two ends and the weight"
    raise ValueError(f"this looks like the names of columns; {remedy}")


def parse_line(line: bytes, first: bool) -> tuple[list[str], float]:
    """Return the nodes of a line and its weight; none for a comment; the first may be a header."""
    if line.lstrip()[:1] in (b"#", b"%"):
        return [], 1.0
    try:
        text = line.decode().lstrip("\ufeff").strip()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError("this is no text in UTF-8; expected a file with a line an edge")
    if not text or text[0] in "#%":
        return [], 1.0
    fields = _fields(text)
    if first:
        refuse_header(fields)
    if len(fields) > 3 or "" in fields:
        many = len(fields) == len(text.split()) > 3
        hint = "; for an adjacency list choose the format adjlist" if many else ""
        raise ValueError(f"expected 'u v' or 'u v weight', got {text[:_SHOWN]!r}{hint}")
    if '"' not in text and _has_other_separators(fields, first):
        raise ValueError(
            f"expected blanks, tabs or commas between fields, and points in numbers, got "
            f"{text[:_SHOWN]!r}; a name with other signs may stand in quotation marks"
        )
    return fields[:2], _weight(fields[2], first) if len(fields) == 3 else 1.0


def _fields(text: str) -> list[str]:
    r"""Split a line at tabs, else commas, else blanks, and remove quotation marks.

    >>> _fields("ann  bob 2"), _fields('"New York", Paris'), _fields('"New York" "Paris"')
    (['ann', 'bob', '2'], ['New York', 'Paris'], ['New York', 'Paris'])
    >>> _fields("New York\tParis"), _fields("1 2\t0.5")
    (['New York', 'Paris'], ['1', '2', '0.5'])
    """
    text = re.sub(r"\t+", "\t", text)  # columns may be aligned by several
    separator = "\t" if _tabs_separate(text) else "," if "," in text else None
    if '"' not in text:
        return [field.strip() for field in text.split(separator)]
    if separator is None:
        return [word or quoted.replace('""', '"') for quoted, word in _WORD.findall(text)]
    try:
        row = csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True)
        return [field.strip() for field in next(row)]
    except csv.Error:
        between = "tab" if separator == "\t" else "comma"
        raise ValueError(
            f"a closing quotation mark must stand before a {between} or at the end of the line, "
            f"got {text[:_SHOWN]!r}"
        ) from None


def _tabs_separate(text: str) -> bool:
    """Return True if tabs are the separator; next to commas or between numbers they are blanks."""
    fields = [field.strip() for field in text.split("\t")]
    if len(fields) == 1 or _NUMBERS.fullmatch(text):
        return False
    words = text.split()
    if len(fields) == 2 and len(words) == 3 and '"' not in text and NUMBER.fullmatch(words[2]):
        raise ValueError(
            f"tabs and blanks both separate, so {text[:_SHOWN]!r} could be an edge with a weight "
            "or one of names with blanks; use tabs alone, or quotation marks around names"
        )
    return not any(field[-1:] == "," or field[:1] == "," for field in fields)


def _has_other_separators(fields: list[str], first: bool) -> bool:
    """Return True if semicolons, bars or decimal commas have left several fields in one."""
    alone = len(fields) == 1 and any(sign in fields[0] for sign in (";|" if first else ";"))
    return alone or any(field[-1] in ";|" or _JOINED.fullmatch(field) for field in fields)


def _weight(text: str, first: bool) -> float:
    # float() alone takes 1_000 and digits of other scripts, too.
    weight = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= weight < math.inf:
        hint = "; if the line names columns, begin it with #" if first and weight != weight else ""
        raise ValueError(
            f"a weight must be a finite number and not negative, got {text[:_SHOWN]!r}{hint}"
        )
    return weight
