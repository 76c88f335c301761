"""Lines of a text file, plain or compressed, and their fields."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sepool.files.atomic import StrPath
from sepool.graph.formats.detect import ending_of
from sepool.graph.formats.opening import open_stream

SHOWN = 80  # characters of a line in an error


@dataclass(frozen=True)
class Text:
    """The lines of a file.

    Attributes:
        path: of the file.
        lines: all lines, without their ends.
    """

    path: str
    lines: list[str]

    @property
    def suffix(self) -> str:
        """Ending of the file in lower case, without that of compression."""
        return ending_of(self.path)

    def content(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of every line but blank ones and comments (#, %)."""
        for number, line in enumerate(self.lines, 1):
            line = line.strip()
            if line and line[0] not in "#%":
                yield number, line

    def error(self, number: int, message: str) -> ValueError:
        """Return an error that names the file and a line."""
        return ValueError(f"{self.path}:{number}: {message}")


def read_text(path: StrPath) -> Text:
    """Return the lines of a file; fail on files that are no text in UTF-8, or have none.

    Raises:
        ValueError: the file is binary, damaged or empty.
    """
    name = os.fspath(path)
    with open_stream(path) as file:
        content = file.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"{name}: this is no text in UTF-8; expected a file of clusters")
    out = Text(name, text.replace("\r\n", "\n").split("\n"))
    if next(out.content(), None) is None:
        raise ValueError(f"{name}: no clusters in this file")
    return out


def rows_of(text: Text, lines: Iterable[tuple[int, str]], separator: str) -> list[list[str]]:
    r"""Return the fields of lines; quotation marks around a field are removed.

    Args:
        text: the file, for errors.
        lines: their numbers and texts.
        separator: a comma, a tab, or a blank for any blanks and tabs.

    Example:
        >>> rows_of(Text("a.csv", []), [(1, '"New York, NY", 3')], ",")
        [['New York, NY', '3']]
        >>> rows_of(Text("a.txt", []), [(1, "a  b\tc")], " ")
        [['a', 'b', 'c']]
    """
    rows = []
    for number, line in lines:
        if separator == " ":
            line = line.replace("\t", " ").strip()
        try:
            row = next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise text.error(number, f"{error}, got {line[:SHOWN]!r}") from None
        rows.append([field.strip() for field in row])
    return rows
