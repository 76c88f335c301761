"""Tells the reader of docstrings (griffe, see mkdocs.yml) where the examples are.

It knows sections named "Examples"; here they are called "Example", or are not named at all.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

TITLE = re.compile(r"^Example:$", re.MULTILINE)
BARE = re.compile(r"\n\n(>>> .*)\Z", re.DOTALL)


class Examples(griffe.Extension):
    """Gives every example the title that makes it code."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = TITLE.sub("Examples:", obj.docstring.value)
        obj.docstring.value = BARE.sub(_indented, text)


def _indented(found: re.Match[str]) -> str:
    lines = "\n".join(f"    {line}".rstrip() for line in found[1].splitlines())
    return f"\n\nExamples:\n{lines}"
