"""Check of the lines of Matrix Market files, before a parser that aborts on damaged ones."""

from __future__ import annotations

import re

from sepool.files.limits import line_blocks
from sepool.graph.formats.opening import BadLine

_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
_SHOWN = 80  # characters of a line in an error


def check_matrix_lines(path: str) -> None:
    """Fail on a line that is no entry, and on another number of entries than the header states.

    Headers that are none are left to the parser.
    """
    with open(path, "rb") as file:
        head, number = file.readline().decode("latin1").lower().split(), 2
        while (sizes := file.readline()).lstrip()[:1] in (b"%", b"") and sizes:
            number += 1
        counts = [int(word) for word in sizes.split() if word.isdigit()]
        array = head[2:3] == ["array"]
        if len(head) != 5 or head[3] not in _VALUES or len(counts) != (2 if array else 3):
            return
        expected = _array_entries(counts[0], counts[1], head[4]) if array else counts[2]
        words = [rb"\d+"] * (0 if array else 2) + [rb"[-+.\w]+"] * _VALUES[head[3]]
        blank, entry = rb"[ \t\r]*", rb"[ \t]*" + rb"[ \t]+".join(words) + rb"[ \t\r]*"
        bad = re.compile(rb"^(?!%b$|%b$).*" % (entry, blank), re.MULTILINE)
        empty, entries = re.compile(rb"^%b$" % blank, re.MULTILINE), 0
        for block in line_blocks(file):
            text = block.removesuffix(b"\n")
            if match := bad.search(text):
                line = match[0][:_SHOWN].decode("latin1")
                place = number + 1 + text.count(b"\n", 0, match.start())
                raise BadLine(place, f"expected {len(words)} numbers, got {line!r}")
            lines = text.count(b"\n") + 1
            number, entries = number + lines, entries + lines - len(empty.findall(text))
    if entries != expected:
        raise ValueError(f"expected {expected:,} entries, as the header states, got {entries:,}")


def _array_entries(rows: int, columns: int, symmetry: str) -> int:
    """Return the number of values of a dense matrix, of a symmetric one of one triangle."""
    if symmetry == "general":
        return rows * columns
    return rows * (rows - 1) // 2 if symmetry == "skew-symmetric" else rows * (rows + 1) // 2
