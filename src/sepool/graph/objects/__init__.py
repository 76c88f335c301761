"""Graphs of other libraries and of plain Python objects: one reader each."""
