from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sepool
from sepool.cluster import StructuralEntropyClustering

X, Y = make_blobs(120, centers=4, random_state=3)


@parametrize_with_checks(
    [
        StructuralEntropyClustering(),
        StructuralEntropyClustering(height=3, n_neighbors=5, random_state=None, trials=2),
    ]
)
@pytest.mark.filterwarnings("ignore:n_neighbors=15:UserWarning")
def test_fit_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_fit_blobs_have_their_clusters():
    model = StructuralEntropyClustering().fit(X)
    assert adjusted_rand_score(Y, model.labels_) == 1
    assert model.n_clusters_ == 4
    assert model.n_features_in_ == 2


def test_fit_tree_is_that_of_the_affinity_matrix():
    model = StructuralEntropyClustering(height=3, random_state=5, trials=2).fit(X)
    tree = sepool.coding_tree(model.affinity_matrix_, height=3, seed=5, trials=2)
    assert model.tree_ == tree
    for level, labels in enumerate(model.cluster_levels_, 1):
        np.testing.assert_array_equal(labels, tree.labels(level))
    assert model.labels_ is model.cluster_levels_[-1]


def test_affinity_matrix_is_twice_that_of_spectral_clustering():
    near = np.random.default_rng(1).normal(size=(60, 3))  # one component, as it wants
    model = StructuralEntropyClustering(n_neighbors=7).fit(near)
    spectral = SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=8).fit(near)
    other = spectral.affinity_matrix_.toarray()  # there a sample is a neighbour of itself
    np.fill_diagonal(other, 0)
    np.testing.assert_array_equal(model.affinity_matrix_.toarray(), 2 * other)


@pytest.mark.parametrize("n_clusters", [4, 6, 120])
def test_fit_n_clusters_are_on_the_coarsest_level(n_clusters):
    model = StructuralEntropyClustering(n_clusters, height=3).fit(X)
    assert model.n_clusters_ == n_clusters == len(np.unique(model.labels_))


def test_fit_noise_is_one_cluster():
    noise = np.triu(np.random.default_rng(1).random((300, 300)) < 0.05, 1).astype(float)
    model = StructuralEntropyClustering(affinity="precomputed").fit(noise + noise.T)
    assert model.tree_.height == 1
    assert model.n_clusters_ == 1
    assert not model.labels_.any()
    assert len(model.cluster_levels_) == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_fit_precomputed_similarities_are_the_weights(form):
    kernel = rbf_kernel(X) + 1e-17 * np.triu(np.ones((120, 120)))
    model = StructuralEntropyClustering(affinity="precomputed").fit(form(kernel))
    assert adjusted_rand_score(Y, model.labels_) == 1
    weights = model.affinity_matrix_.toarray()
    np.testing.assert_allclose(weights, rbf_kernel(X), atol=1e-15)
    np.testing.assert_array_equal(weights, weights.T)


def test_fit_precomputed_distances_equal_features():
    plain = StructuralEntropyClustering(n_neighbors=6).fit(X)
    options = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 6}
    dense = StructuralEntropyClustering(**options).fit(euclidean_distances(X))
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=6), StructuralEntropyClustering(**options)
    )
    np.testing.assert_array_equal(dense.labels_, plain.labels_)
    np.testing.assert_array_equal(pipeline.fit_predict(X), plain.labels_)


def test_fit_metric_is_that_of_the_neighbours():
    model = StructuralEntropyClustering(n_neighbors=6, metric="cosine").fit(X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    other = StructuralEntropyClustering(n_neighbors=6).fit(X / lengths)
    np.testing.assert_array_equal(
        model.affinity_matrix_.toarray(), other.affinity_matrix_.toarray()
    )


def test_fit_sparse_features_equal_dense_ones():
    model = StructuralEntropyClustering()
    np.testing.assert_array_equal(model.fit_predict(sparse.csr_array(X)), model.fit_predict(X))


def test_fit_frame_keeps_the_names_of_its_columns():
    frame = load_iris(as_frame=True).data
    scale = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scale, StructuralEntropyClustering())
    labels = model.fit_predict(frame)
    assert list(model[-1].feature_names_in_) == list(frame.columns)
    assert labels.shape == (150,)


def test_set_params_of_a_grid_changes_the_model():
    model = StructuralEntropyClustering()
    counts = {
        params["n_clusters"]: clone(model).set_params(**params).fit(X).n_clusters_
        for params in ParameterGrid({"n_clusters": [4, 8], "n_neighbors": [8]})
    }
    assert counts == {4: 4, 8: 8}


def test_fit_result_does_not_depend_on_n_jobs():
    one = StructuralEntropyClustering(n_jobs=1).fit(X)
    assert one.tree_ == StructuralEntropyClustering(n_jobs=2).fit(X).tree_


def test_fit_random_state_object_draws_a_seed():
    one, other = (
        StructuralEntropyClustering(height=4, random_state=np.random.RandomState(7)).fit(X)
        for _ in range(2)
    )
    assert one.tree_ == other.tree_


def test_fit_few_samples_warns_and_uses_all_neighbours():
    with pytest.warns(UserWarning, match="n_neighbors=15, but a sample has 3 others"):
        model = StructuralEntropyClustering().fit(X[:4])
    assert (model.affinity_matrix_.toarray() == 2 * (1 - np.eye(4))).all()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"affinity": "rbf"}, ValueError, "affinity must be one of nearest_neighbors, precomputed"),
        ({"n_clusters": 121}, ValueError, r"n_clusters must be 1 .* to 120 .* got 121"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be a whole number, got 2.0"),
        ({"n_clusters": 4, "height": 1}, ValueError, "n_clusters=4 needs height=2 or more"),
        ({"n_clusters": 3, "n_neighbors": 5}, ValueError, "n_clusters must be 4 .*got 3; more"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1, got 0"),
        ({"height": 0}, ValueError, "height must be 1 to"),
        ({"trials": 0}, ValueError, "trials must be 1 to"),
        ({"random_state": -1}, ValueError, "random_state must be 0 to .* got -1"),
        ({"metric": "precomputed"}, ValueError, "needs affinity='precomputed_nearest_neighbors'"),
        ({"affinity": "precomputed"}, ValueError, r"needs a square matrix .* got shape \(120, 2\)"),
    ],
)
def test_fit_impossible_parameter_is_named(params, error, message):
    params = {"n_neighbors": 40, **params}
    with pytest.raises(error, match=message) as raised:
        StructuralEntropyClustering(**params).fit(X)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("similarities", "message"),
    [
        ([[0, 1], [2, 0]], "must be symmetric, got 1 from 0 to 1 and 2 from 1 to 0"),
        ([[0, -1], [-1, 0]], "must not be negative, got -1"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
    ],
)
def test_fit_impossible_similarities_are_named(similarities, message):
    with pytest.raises(ValueError, match=message):
        StructuralEntropyClustering(affinity="precomputed").fit(np.array(similarities, float))
