"""Attention along the levels of a coding tree."""
