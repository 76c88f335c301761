"""Fixtures of several test files."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

# Tests of an extra that is not installed; the packages of the extra "test" are all there.
collect_ignore_glob = [] if find_spec("torch_geometric") else ["nn/*", "pyg/*", "*/test_tgp.py"]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the file of a graph."""

    def write(content: str | bytes, name: str = "graph.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
