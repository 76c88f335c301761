"""Depth of the hierarchy that a graph supports, and the significance of levels and clusters."""
