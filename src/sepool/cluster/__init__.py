"""Clustering of feature vectors, as an estimator of scikit-learn."""

from __future__ import annotations

from sepool.extras import needs

with needs("cluster", "sepool.cluster"):
    from sepool.cluster.estimator import StructuralEntropyClustering

__all__ = ["StructuralEntropyClustering"]
