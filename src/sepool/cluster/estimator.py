"""The estimator: a graph of the samples, its coding tree, the labels of its levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sepool.arguments import one_of, whole_number
from sepool.build import coding_tree
from sepool.cluster.affinity import (
    AFFINITIES,
    DISTANCES,
    FEATURES,
    SIMILARITIES,
    affinity_matrix,
)
from sepool.tree import CodingTree


class StructuralEntropyClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Nested clusters of samples: the coding tree of their nearest-neighbour graph.

    Every sample has an edge to each of its ``n_neighbors`` nearest others. An edge weighs 2 between
    samples that are neighbours of each other, 1 between others: the graph of scikit-learn's
    ``SpectralClustering``, times 2. Which of several others at the same distance are neighbours is
    up to scikit-learn.

    Args:
        n_clusters: number of clusters on the coarsest level, from the number of components of the
            graph to that of samples; None chooses the clusters that the graph supports.
        height: as in `sepool.coding_tree`, 2 for one level of clusters; None chooses the levels
            that the graph supports.
        affinity: "nearest_neighbors" takes features; "precomputed" a symmetric matrix of
            similarities, dense or sparse, whose entries are the weights;
            "precomputed_nearest_neighbors" a matrix of distances, dense or sparse, as from
            ``KNeighborsTransformer``.
        n_neighbors: number of neighbours of a sample, without itself; all others, with a warning,
            where they are fewer.
        metric: of ``sklearn.neighbors.NearestNeighbors``, for "nearest_neighbors".
        random_state: seed of the search; an integer gives the tree of
            ``coding_tree(affinity_matrix_, seed=random_state)``, None another one at every call.
        trials: number of searches, as in `sepool.coding_tree`.
        n_jobs: number of threads, -1 for all cores; the tree of a graph does not depend on it.

    Attributes:
        labels_: cluster of every sample on the coarsest level; 0 for all samples of a graph without
            clusters.
        cluster_levels_: cluster of every sample on each level, finest first; the last is `labels_`.
        tree_: the `sepool.CodingTree`, which has the graph.
        n_clusters_: number of clusters on the coarsest level.
        affinity_matrix_: the graph, a sparse array.
        n_features_in_: number of columns of the input.
        feature_names_in_: names of its columns, if all are strings.

    Example:
        >>> from sklearn.datasets import make_blobs
        >>> X, y = make_blobs(400, centers=6, n_features=5, random_state=1)
        >>> model = StructuralEntropyClustering().fit(X)
        >>> model.n_clusters_
        6
        >>> from sklearn.metrics import adjusted_rand_score
        >>> adjusted_rand_score(y, model.labels_)
        1.0
        >>> StructuralEntropyClustering(n_clusters=8).fit(X).n_clusters_
        8
    """

    labels_: NDArray[np.int32]
    cluster_levels_: list[NDArray[np.int32]]
    tree_: CodingTree
    n_clusters_: int
    affinity_matrix_: sparse.csr_array
    n_features_in_: int

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        height: int | None = None,
        affinity: str = FEATURES,
        n_neighbors: int = 15,
        metric: Any = "euclidean",
        random_state: int | np.random.RandomState | None = 0,
        trials: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.height = height
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.random_state = random_state
        self.trials = trials
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> StructuralEntropyClustering:  # noqa: N803
        """Build the graph and its coding tree.

        Args:
            X: features, one row a sample, dense or sparse; or similarities or distances (see
                ``affinity``).
            y: ignored.

        Raises:
            ValueError: the input does not fit ``affinity``, or a parameter has an impossible value.
        """
        one_of("affinity", self.affinity, AFFINITIES)
        if self.affinity == FEATURES and self.metric == "precomputed":
            raise ValueError(f"metric='precomputed' needs affinity={DISTANCES!r}")
        X = validate_data(  # noqa: N806
            self,
            X,
            accept_sparse=("csr", "csc", "coo"),
            dtype=(np.float64, np.float32),
            ensure_min_samples=2,
        )
        seed = self._seed()
        self.affinity_matrix_ = affinity_matrix(X, self)
        self._check_number()
        self.tree_ = coding_tree(
            self.affinity_matrix_,
            self.height,
            seed=seed,
            trials=self.trials,
            num_clusters=self.n_clusters,
            num_threads=effective_n_jobs(self.n_jobs),
        )
        top = self.tree_.top or self.tree_.height
        self.cluster_levels_ = [self.tree_.labels(level) for level in range(1, top + 1)]
        self.labels_ = self.cluster_levels_[-1]
        self.n_clusters_ = self.tree_.num_clusters(top)
        return self

    def _check_number(self) -> None:
        """Fail on a number of clusters that no tree of the graph has."""
        if self.n_clusters is None:
            return
        samples = self.affinity_matrix_.shape[0]
        least, _ = connected_components(self.affinity_matrix_, directed=False)
        remedy = "similarities" if self.affinity == SIMILARITIES else "n_neighbors"
        if not least <= whole_number("n_clusters", self.n_clusters, 1) <= samples:
            raise ValueError(
                f"n_clusters must be {least} (the components of the graph) to {samples} (the "
                f"samples), got {self.n_clusters}; more {remedy} connect components"
            )
        if self.height == 1:
            raise ValueError(f"n_clusters={self.n_clusters} needs height=2 or more, got height=1")

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return whole_number("random_state", self.random_state, 0, 2**63 - 1)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.affinity != FEATURES
        return tags
