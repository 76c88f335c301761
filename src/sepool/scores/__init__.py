"""Scores of clusterings: entropy, modularity, conductance, map equation, agreement."""
