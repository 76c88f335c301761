"""Check names and docstrings against the project's style: `python tools/voice.py [--count]`.

A docstring says what a thing is or does: no first line is a clause. A name is a noun of the field:
no participle and no general word stands for one.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src/sepool", "experiments/src/sepool_experiments")
CLAUSES = ("What", "Who", "Whom", "Whose", "Whether", "How", "Where", "Which")
NAMES = {
    *("found", "seen", "there", "kept", "known", "given", "told", "dealt"),
    *("real", "room", "copies", "times", "source", "reach", "kind"),
}
MODULES = {"beside", "looks", "largest", "undrawn", "recording", "ragged", "merging", "gate"}


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node of the syntax tree binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.alias) and node.asname:
        yield node.asname


def docstring_of(node: ast.AST) -> str:
    """Return the docstring of a module, class or function; empty for other nodes."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return ast.get_docstring(node) or ""
    return ""


def hits_of(path: Path) -> Iterator[str]:
    """Yield a line for each violation in a file."""
    if path.stem in MODULES:
        yield f"{path.relative_to(ROOT)}: a module named {path.stem}"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
        words = docstring_of(node).split(maxsplit=1)
        if words and words[0].rstrip(",:") in CLAUSES:
            yield f"{place}: a docstring that begins with {words[0]}"
        for name in names_of(node):
            if name.strip("_").lower() in NAMES:
                yield f"{place}: a variable named {name}"


def main() -> None:
    """Print violations, or their number by folder, and fail if there are any."""
    counts: Counter[str] = Counter()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = list(hits_of(path))
            counts[str(path.parent.relative_to(ROOT))] += len(lines)
            if "--count" not in sys.argv and lines:
                print("\n".join(lines))
    if "--count" in sys.argv:
        for folder, count in sorted(counts.items()):
            print(f"{count:5d}  {folder}")
    sys.exit(1 if counts.total() else 0)


if __name__ == "__main__":
    main()
