"""Files of Infomap: ``.clu`` of modules, ``.tree`` and ``.ftree`` of paths."""

from __future__ import annotations

import re

from sepool.scores.formats.rows import Rows
from sepool.scores.formats.text import SHOWN, Text, rows_of

_TREE = re.compile(r'(\d+(?::\d+)*)\s+(\S+)\s+"((?:[^"]|"")*)"\s*((?:\d+(?:\s+\d+)*)?)\s*')


def read_clu(text: Text) -> Rows:
    """Read lines ``node_id module`` or ``node_id module flow``, one level.

    Raises:
        ValueError: a line is malformed.
    """
    content = list(text.content())
    rows = rows_of(text, content, " ")
    lines = [number for number, _ in content]
    for row, (number, line) in zip(rows, content, strict=True):
        if len(row) not in (2, 3) or not row[1].isdigit():
            raise text.error(number, f"expected 'node_id module flow', got {line[:SHOWN]!r}")
    ids = [row[0] for row in rows]
    return Rows(lines, [[row[1] for row in rows]], ids, ids)


def is_tree_line(line: str) -> bool:
    """Return True for a line ``path flow "name" node_id``.

    >>> is_tree_line('1:2:1 0.05 "ann" 7'), is_tree_line("1 2 0.05")
    (True, False)
    """
    return _TREE.fullmatch(line) is not None


def read_infomap_tree(text: Text) -> Rows:
    """Read lines ``path flow "name" node_id`` up to the section ``*Links``.

    The path ``1:2:3`` is the third node of module 2 in module 1. A module without modules inside is
    a cluster on all finer levels, too; a node next to modules is a cluster of its own.

    Raises:
        ValueError: a line is malformed, or one of state nodes or of several layers.
    """
    paths, lines = list[list[str]](), list[int]()
    names, ids = list[str](), list[str]()
    for number, line in text.content():
        if line.startswith("*"):
            break
        parts = _TREE.fullmatch(line)
        if parts is None:
            raise text.error(number, f"expected 'path flow \"name\" node_id', got {line[:SHOWN]!r}")
        numbers = parts[4].split()
        if len(numbers) > 1:
            raise text.error(
                number,
                "a tree of state nodes or layers, in which a node has several paths; write it "
                "with the tree of physical nodes",
            )
        paths.append(parts[1].split(":"))
        names.append(parts[3].replace('""', '"'))
        ids += numbers
        lines.append(number)
    if not paths:
        raise ValueError(f"{text.path}: no lines 'path flow \"name\" node_id'")
    return Rows(lines, _levels(paths), names, ids if len(ids) == len(names) else None)


def _levels(paths: list[list[str]]) -> list[list[str]]:
    """Return the nested levels of hierarchical paths, finest first; the last part is the node."""
    modules = [tuple(path[:-1]) for path in paths]
    above = {module[:i] for module in modules for i in range(len(module))}
    own = [
        module if module not in above else (*module, path[-1])
        for module, path in zip(modules, paths, strict=True)
    ]
    depth = max(map(len, own))
    return [[":".join(module[:i]) for module in own] for i in range(max(depth, 1), 0, -1)]
