"""Extension of griffe (see mkdocs.yml) that finds examples in docstrings.

griffe expects a section named "Examples"; here it is "Example", or has no title and comes last.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

import griffe

TITLE = re.compile(r"^Example:$", re.MULTILINE)
UNTITLED = re.compile(r"\n\n(>>> .*)\Z", re.DOTALL)


class Examples(griffe.Extension):
    """Puts every example into a section "Examples"."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            text = TITLE.sub("Examples:", obj.docstring.value)
            obj.docstring.value = UNTITLED.sub(_section, text)


def _section(match: re.Match[str]) -> str:
    return f"\n\nExamples:\n{indent(match[1], '    ')}"
