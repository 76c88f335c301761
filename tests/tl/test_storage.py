"""Trees in adata.uns."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool

anndata = pytest.importorskip("anndata")
pytest.importorskip("scipy")


@pytest.fixture
def cells():
    graph = nx.planted_partition_graph(4, 15, 0.8, 0.02, seed=2)
    data = anndata.AnnData(np.zeros((60, 1), np.float32))
    data.obs_names = [f"cell-{i}" for i in range(60)]
    data.obsp["connectivities"] = nx.to_scipy_sparse_array(graph, dtype=np.float32).tocsr()
    data.uns["neighbors"] = {"connectivities_key": "connectivities"}
    sepool.tl.cluster(data, height=3)
    return data


def test_tree_names_its_nodes_after_the_cells(cells):
    tree = sepool.tl.tree(cells)
    assert tree.names == tuple(cells.obs_names)
    members = {f"cell-{i}" for i in np.flatnonzero(cells.obs["sepool"] == "1")}
    assert tree.communities(2)[1] == members


@pytest.mark.parametrize("suffix", ["h5ad", "zarr"])
def test_tree_of_a_file_is_the_same(cells, tmp_path, suffix):
    path = tmp_path / f"cells.{suffix}"
    if suffix == "zarr":
        pytest.importorskip("zarr")
        cells.write_zarr(path)
        again = anndata.read_zarr(path)
    else:
        cells.write_h5ad(path)
        again = anndata.read_h5ad(path)
    assert sepool.tl.tree(again) == sepool.tl.tree(cells)
    assert sepool.tl.tree(again).entropy == sepool.tl.tree(cells).entropy
    assert again.uns["sepool"]["params"]["height"] == 3
    assert list(again.obs["sepool"].cat.categories) == list(cells.obs["sepool"].cat.categories)
    sepool.tl.cluster(again)  # replaces what the file had


def test_tree_without_clustering_names_the_function(cells):
    with pytest.raises(KeyError, match=r"no tree under 'leiden'; run sepool.tl.cluster\(adata, "):
        sepool.tl.tree(cells, "leiden")
    with pytest.raises(KeyError, match="no tree under 'neighbors'"):
        sepool.tl.tree(cells, "neighbors")


def test_tree_of_a_part_of_the_cells_is_refused(cells):
    with pytest.raises(ValueError, match="is of 60 cells, but adata has 30; cluster again"):
        sepool.tl.tree(cells[:30])


def test_tree_of_cells_in_another_order_is_refused(cells):
    with pytest.raises(ValueError, match="another order than at the clustering 'sepool'"):
        sepool.tl.tree(cells[::-1])


def test_tree_can_be_saved_and_loaded(cells, tmp_path):
    tree = sepool.tl.tree(cells)
    tree.save(tmp_path / "tree.json")
    assert sepool.CodingTree.load(tmp_path / "tree.json") == tree
