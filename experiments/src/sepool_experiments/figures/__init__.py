"""Figures of the paper: reconstruction after pooling, and clusters of molecules.

`figure3` reconstructs a ring and a grid from pooled features; `figure4` counts the rings of
molecules inside clusters. The command is ``sepool reproduce figure3``.
"""
