"""Clustering of cells along the coding tree of their graph of neighbours."""

from __future__ import annotations

from typing import Any

from sepool.arguments import whole_number
from sepool.build import coding_tree
from sepool.extras import needs
from sepool.tl.connectivities import connectivities_key, graph_of
from sepool.tl.storage import by_size, stored_tree
from sepool.tree import CodingTree


def cluster(
    adata: Any,
    *,
    height: int | None = None,
    num_clusters: int | None = None,
    random_state: int = 0,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    key_added: str = "sepool",
    use_weights: bool = True,
    copy: bool = False,
    num_threads: int | None = None,
    trials: int = 1,
) -> Any:
    """Cluster cells on all levels that their neighbours support, without a resolution.

    Run ``sc.pp.neighbors`` first. The arguments are those of ``sc.tl.leiden``, as far as both have
    them.

    Args:
        adata: the ``AnnData``.
        height: level of the root; 2 gives one level of clusters, 3 clusters of clusters. None
            chooses the levels that chance does not explain.
        num_clusters: number of clusters on the coarsest level.
        random_state: seed of the search.
        neighbors_key: ``key_added`` of ``sc.pp.neighbors``, if it had one.
        obsp: key of a symmetric matrix in ``adata.obsp``, instead of the neighbours.
        key_added: name of the columns and of the entry in ``adata.uns``.
        use_weights: weigh edges by connectivity.
        copy: return a changed copy instead of changing ``adata``.
        num_threads: number of threads, all cores by default; the clusters do not depend on it.
        trials: number of seeds, as in `sepool.coding_tree`.

    Returns:
        The copy, or None. Added are

        - ``adata.obs["sepool"]``: the coarsest clusters "0", "1", ..., the largest first; a single
          one where the graph has no clusters;
        - ``adata.obs["sepool_level_1"]``, ...: finer clusters, if there are more levels, finest
          first; subclusters of a cluster are consecutive, the largest first;
        - ``adata.uns["sepool"]``: the parameters, and the tree for `tree`.

    Raises:
        KeyError: there are no neighbours, or none under this key.
        ValueError: the matrix is not square or not symmetric, or an argument is impossible.

    Example:
        >>> import scanpy as sc, sepool  # doctest: +SKIP
        >>> sc.pp.neighbors(adata)  # doctest: +SKIP
        >>> sepool.tl.cluster(adata)  # doctest: +SKIP
        >>> sc.pl.umap(adata, color=["sepool", "sepool_level_1"])  # doctest: +SKIP
    """
    if not isinstance(key_added, str) or not key_added:
        raise ValueError(f"key_added must be the name of a column, got {key_added!r}")
    seed = whole_number("random_state", random_state, 0, 2**63 - 1)
    key = connectivities_key(adata, neighbors_key, obsp)
    tree = coding_tree(
        graph_of(adata, key, use_weights),
        height,
        seed=seed,
        trials=trials,
        num_clusters=num_clusters,
        num_threads=num_threads,
    )
    out = adata.copy() if copy else adata
    params = {
        "connectivities_key": key,
        "random_state": seed,
        "trials": trials,
        "use_weights": bool(use_weights),
        "height": height,
        "num_clusters": num_clusters,
    }
    _write(out, by_size(tree), key_added, params)
    return out if copy else None


def _write(adata: Any, tree: CodingTree, key: str, params: dict[str, Any]) -> None:
    """Replace the columns and the entry of an earlier clustering under this key."""
    with needs("io", "sepool.tl"):
        import pandas as pd
    entry = adata.uns.get(key)
    earlier = entry.get("tree", {}) if hasattr(entry, "get") else {}
    for level in range(1, len(earlier.get("counts", [])) - 2):
        if (name := f"{key}_level_{level}") in adata.obs:
            del adata.obs[name]
    for level in range(1, max(tree.top, 1) + 1):
        name = f"{key}_level_{level}" if level < tree.top else key
        categories = [str(number) for number in range(tree.num_clusters(level))]
        adata.obs[name] = pd.Categorical.from_codes(tree.labels(level), categories)
    adata.uns[key] = {  # None cannot be written to a file
        "params": {name: value for name, value in params.items() if value is not None},
        "tree": stored_tree(tree, adata),
    }
