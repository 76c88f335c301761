"""Adapters for other packages; each is imported on its own."""
