"""Node classifiers: SEP-N and its baselines, one file each; `models.node_systems` registers them.

Replicas of a model share one graph, with features ``(N, R, width)``.
"""
