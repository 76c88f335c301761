"""Clusters of cells, with AnnData and with scanpy's own data."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool

anndata = pytest.importorskip("anndata")
sparse = pytest.importorskip("scipy.sparse")
GROUPS, SIZES = 4, (40, 30, 20, 10)


def connectivities(seed: int = 1) -> sparse.csr_matrix:
    """Return the weighted adjacency of a graph with planted groups of unequal size."""
    density = np.where(np.eye(GROUPS, dtype=bool), 0.6, 0.01)
    graph = nx.stochastic_block_model(SIZES[::-1], density, seed=seed)  # the smallest first
    rng = np.random.default_rng(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = np.float32(rng.uniform(0.2, 1))
    return sparse.csr_matrix(nx.to_scipy_sparse_array(graph, dtype=np.float32))


def cells(matrix=None, **uns) -> anndata.AnnData:
    matrix = connectivities() if matrix is None else matrix
    data = anndata.AnnData(np.zeros((matrix.shape[0], 2), np.float32))
    data.obs_names = [f"cell-{i}" for i in range(data.n_obs)]
    data.obsp["connectivities"] = matrix
    data.uns["neighbors"] = {"connectivities_key": "connectivities", **uns}
    return data


@pytest.fixture
def nested():
    """Return cells whose neighbours have two levels of groups."""
    graph = nx.random_partition_graph([16] * 12, 0.9, 0.0, seed=0)
    rng = np.random.default_rng(0)
    for one in range(192):
        for other in range(one):
            if one // 16 != other // 16 and one // 64 == other // 64 and rng.random() < 0.15:
                graph.add_edge(one, other)
    graph.add_edges_from([(0, 64), (64, 128), (128, 0)])
    return cells(sparse.csr_matrix(nx.to_scipy_sparse_array(graph, dtype=np.float32)))


def test_cluster_of_planted_groups_returns_them_by_size():
    data = cells()
    assert sepool.tl.cluster(data) is None
    column = data.obs["sepool"]
    assert list(column.cat.categories) == ["0", "1", "2", "3"]
    assert column.value_counts(sort=False).tolist() == list(SIZES)
    assert column.iloc[[0, 15, 35, 99]].tolist() == ["3", "2", "1", "0"]


def test_cluster_equals_coding_tree_of_the_matrix():
    data = cells()
    sepool.tl.cluster(data, random_state=3, trials=2)
    tree = sepool.coding_tree(data.obsp["connectivities"], seed=3, trials=2)
    stored = sepool.tl.tree(data)
    assert stored.counts == tree.counts
    assert stored.entropy == tree.entropy
    pairs = set(zip(tree.labels(1).tolist(), data.obs["sepool"], strict=True))
    assert len(pairs) == tree.num_clusters(1)


def test_cluster_of_nested_groups_has_a_column_a_level(nested):
    sepool.tl.cluster(nested)
    assert list(nested.obs.columns) == ["sepool_level_1", "sepool"]
    fine, coarse = nested.obs["sepool_level_1"], nested.obs["sepool"]
    assert (fine.nunique(), coarse.nunique()) == (12, 3)
    parents = nested.obs.groupby("sepool_level_1", observed=True)["sepool"]
    assert parents.nunique().eq(1).all()
    assert parents.first().astype(int).is_monotonic_increasing  # subclusters are consecutive


@pytest.mark.parametrize("height", [2, 3, 5])
def test_cluster_categories_are_the_clusters_of_the_tree(nested, height):
    sepool.tl.cluster(nested, height=height)
    tree = sepool.tl.tree(nested)
    matrix = nested.obsp["connectivities"]
    assert tree.height == height
    levels = [tree.labels(level) for level in range(1, height)]
    for level, labels in enumerate(levels, 1):
        name = "sepool" if level == height - 1 else f"sepool_level_{level}"
        assert nested.obs[name].astype(int).tolist() == labels.tolist()
    again = sepool.CodingTree.from_levels(matrix, levels)
    assert tree.entropy == pytest.approx(again.entropy)
    assert tree.volumes(1).tolist() == pytest.approx(np.bincount(levels[0], again.volumes(0)))
    assert sepool.structural_entropy(matrix, levels) == pytest.approx(tree.entropy)
    sizes = tree.cluster_sizes(height - 1)
    assert (np.diff(sizes) <= 0).all()


def test_cluster_without_structure_has_one_category():
    graph = nx.gnm_random_graph(200, 1000, seed=1)
    data = cells(sparse.csr_matrix(nx.to_scipy_sparse_array(graph)))
    sepool.tl.cluster(data)
    assert data.obs["sepool"].unique().tolist() == ["0"]
    assert sepool.tl.tree(data).height == 1


def test_cluster_again_replaces_the_columns_of_more_levels(nested):
    sepool.tl.cluster(nested, height=4)
    assert "sepool_level_2" in nested.obs
    sepool.tl.cluster(nested, num_clusters=3, height=2)
    assert list(nested.obs.columns) == ["sepool"]
    assert nested.uns["sepool"]["params"]["num_clusters"] == 3
    assert nested.obs["sepool"].nunique() == 3


def test_cluster_copy_leaves_the_argument_as_it_is():
    data = cells()
    changed = sepool.tl.cluster(data, copy=True, key_added="communities")
    assert "communities" in changed.obs
    assert "communities" in changed.uns
    assert "communities" not in data.obs
    assert "communities" not in data.uns


def test_cluster_reads_the_neighbours_under_a_key():
    data = cells(sparse.csr_matrix((100, 100)))
    data.obsp["other_connectivities"] = connectivities()
    data.uns["other"] = {"connectivities_key": "other_connectivities"}
    for options in ({"neighbors_key": "other"}, {"obsp": "other_connectivities"}):
        sepool.tl.cluster(data, **options)
        assert data.obs["sepool"].nunique() == GROUPS
        assert data.uns["sepool"]["params"]["connectivities_key"] == "other_connectivities"


def test_cluster_reads_neighbours_without_a_key():
    data = cells()
    data.uns["neighbors"] = {"params": {"n_neighbors": 10}}  # as in older files
    sepool.tl.cluster(data)
    assert data.obs["sepool"].nunique() == GROUPS


def test_cluster_without_weights_ignores_them():
    data = cells()
    sepool.tl.cluster(data, use_weights=False)
    ones = data.obsp["connectivities"].astype(bool)
    assert sepool.tl.tree(data).volumes(0).tolist() == ones.sum(1).ravel().tolist()[0]


@pytest.mark.parametrize("form", ["dense", "bool", "csc"])
def test_cluster_takes_other_matrices(form):
    matrix = connectivities()
    forms = {"dense": matrix.toarray(), "bool": matrix.astype(bool), "csc": matrix.tocsc()}
    data = cells(forms[form])
    sepool.tl.cluster(data)
    assert data.obs["sepool"].nunique() == GROUPS


class TestErrors:
    def test_no_neighbours_names_the_function_of_scanpy(self):
        data = cells()
        del data.uns["neighbors"]
        with pytest.raises(KeyError, match=r"no 'neighbors'; run sc.pp.neighbors\(adata\) first"):
            sepool.tl.cluster(data)

    def test_wrong_neighbors_key_lists_the_others(self):
        match = r"no 'pca'; it has 'neighbors'; run sc.pp.neighbors\(adata\) first with key_added"
        with pytest.raises(KeyError, match=match):
            sepool.tl.cluster(cells(), neighbors_key="pca")

    def test_wrong_obsp_lists_the_others(self):
        with pytest.raises(KeyError, match=r"adata.obsp has no 'pca'; it has 'connectivities'"):
            sepool.tl.cluster(cells(), obsp="pca")

    def test_neighbours_without_a_matrix_name_both(self):
        data = cells(connectivities_key="lost")
        with pytest.raises(KeyError, match=r"no 'lost', the connectivities of adata.uns\['neigh"):
            sepool.tl.cluster(data)

    def test_both_keys_are_refused(self):
        with pytest.raises(ValueError, match="obsp='x' cannot be combined with neighbors_key='y'"):
            sepool.tl.cluster(cells(), obsp="x", neighbors_key="y")

    def test_asymmetric_matrix_names_two_cells(self):
        matrix = connectivities().tolil()
        matrix[3, 5], matrix[5, 3] = 2, 1
        match = r"obsp\['connectivities'\] must be symmetric, but cell 3 to 5 weighs 2, back 1"
        with pytest.raises(ValueError, match=match):
            sepool.tl.cluster(cells(matrix.tocsr()))

    def test_matrix_that_is_not_square_names_its_shape(self):
        class Cells:  # AnnData refuses such a matrix
            n_obs, uns = 3, {"neighbors": {}}
            obsp = {"connectivities": sparse.csr_matrix((3, 2))}  # noqa: RUF012

        with pytest.raises(ValueError, match=r"must be square, .* \(3\), got shape \(3, 2\)"):
            sepool.tl.cluster(Cells())

    @pytest.mark.parametrize("weight", [-1, np.nan])
    def test_impossible_weight_names_the_matrix(self, weight):
        matrix = connectivities().tolil()
        matrix[0, 1] = matrix[1, 0] = weight
        with pytest.raises(ValueError, match=r"adata.obsp\['connectivities'\]: .* has weight"):
            sepool.tl.cluster(cells(matrix.tocsr()))

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"random_state": -1}, "random_state must be 0 to"),
            ({"height": 0}, "height must be"),
            ({"num_clusters": 0}, "num_clusters must be at least 1"),
            ({"key_added": ""}, "key_added must be the name of a column"),
        ],
    )
    def test_impossible_argument_is_named(self, options, match):
        with pytest.raises(ValueError, match=match):
            sepool.tl.cluster(cells(), **options)


@pytest.mark.heavy
def test_cluster_of_blood_cells_agrees_with_their_types():
    scanpy = pytest.importorskip("scanpy")
    cluster_metrics = pytest.importorskip("sklearn.metrics")
    data = scanpy.datasets.pbmc68k_reduced()
    sepool.tl.cluster(data)
    score = cluster_metrics.adjusted_mutual_info_score
    assert 2 <= data.obs["sepool"].nunique() <= 20
    assert score(data.obs["bulk_labels"], data.obs["sepool"]) > 0.5
    shuffled = np.random.default_rng(0).permutation(data.obs["sepool"].to_numpy())
    assert abs(score(data.obs["bulk_labels"], shuffled)) < 0.1


@pytest.mark.heavy
def test_cluster_after_scanpy_neighbors_and_a_file(tmp_path):
    scanpy = pytest.importorskip("scanpy")
    data = scanpy.datasets.pbmc68k_reduced()
    scanpy.pp.neighbors(data, n_neighbors=15, key_added="fifteen")
    sepool.tl.cluster(data, neighbors_key="fifteen", key_added="fifteen_sepool")
    data.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert sepool.tl.tree(again, "fifteen_sepool") == sepool.tl.tree(data, "fifteen_sepool")
    assert (again.obs["fifteen_sepool"] == data.obs["fifteen_sepool"]).all()
