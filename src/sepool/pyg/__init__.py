"""Graphs of PyTorch Geometric: trees as a transform, hierarchies, files and caches."""
