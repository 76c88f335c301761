"""Coding trees for other programs and for the eye: tables, files, summaries."""
