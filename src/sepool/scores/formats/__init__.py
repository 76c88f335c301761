"""Readers of clusterings in files, one module a format."""
