"""Data inside an HTML page: a header as JSON, arrays as base64 that scripts decode on demand."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def escaped_json(data: Any) -> str:
    r"""Return JSON in ASCII without the special characters of HTML.

    Example:
        >>> escaped_json("</script>")
        '"\\u003c/script\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


class Blocks:
    """Elements of a page with data, each under a name.

    Example:
        >>> blocks = Blocks()
        >>> blocks.add("size-1", np.array([2, 3]), "u1")
        >>> print(blocks)
        <script type="text/plain" id="data-size-1">AgM=</script>
    """

    def __init__(self) -> None:
        self._elements: list[str] = []

    def add(self, name: str, values: NDArray[Any], dtype: str) -> None:
        """Add an array as little-endian numbers of a type, such as ``f4``."""
        data = np.ascontiguousarray(values, np.dtype(dtype).newbyteorder("<")).tobytes()
        text = base64.b64encode(data).decode()
        self._elements.append(f'<script type="text/plain" id="data-{name}">{text}</script>')

    def add_json(self, name: str, data: Any) -> None:
        """Add anything that JSON expresses."""
        text = escaped_json(data)
        self._elements.append(f'<script type="application/json" id="data-{name}">{text}</script>')

    def __str__(self) -> str:
        return "\n".join(self._elements)
