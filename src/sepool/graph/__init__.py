"""Graphs: their arrays, and one reader a library or format."""
