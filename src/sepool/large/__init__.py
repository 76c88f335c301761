"""Coding trees of graphs larger than memory: rounds in SQL on DuckDB or Spark."""

from __future__ import annotations

from sepool.large.build import coding_tree as coding_tree
from sepool.large.result import LargeTree as LargeTree
from sepool.large.result import Report as Report

__all__ = ["LargeTree", "Report", "coding_tree"]
