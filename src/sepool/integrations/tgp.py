"""Coding trees for torch-geometric-pool: its SEP pooler with the trees of this package.

That package divides pooling into select, reduce, connect and lift. `CodingTreeSelect` replaces its
SEP selector; the other three stay::

    from tgp.data.transforms import PreCoarsening
    from sepool.integrations.tgp import coding_tree_pooling

    pooler = coding_tree_pooling(method="best")
    out = pooler(x=data.x, adj=data.edge_index)             # pooled once
    x = pooler(x=out.x, so=out.so, lifting=True)            # and back
    data = PreCoarsening(poolers=[pooler, pooler])(data)    # two levels of one tree, for a dataset

`released_trees` converts the trees of its selector, a port of the code that was released with the
paper, to trees of this package.

Checked by tgp's own tests with `CodingTreeSelect` in place of `SEPSelect` (``test_sep_select``,
``test_base_select``, ``test_sep``, ``test_precoarsening`` at commit 7457a85): 82 of 84 pass. Of the
others one needs torch-cluster, one replaces private functions of ``sep_select``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.build import coding_trees, core_options
from sepool.extras import MissingPackage, needs
from sepool.graph.batch import GraphBatch
from sepool.graph.edges import sorted_rows
from sepool.graph.graph import as_graph
from sepool.pyg.format import Forest, global_parents
from sepool.pyg.hierarchy import Hierarchy
from sepool.segments import pointers
from sepool.tree import CodingTree
from sepool.tree_batch import TreeBatch

with needs("torch", "sepool.integrations.tgp"):
    import torch
    from torch import Tensor, nn

MISSING: ModuleNotFoundError | None = None
SEPSelect: Any = nn.Module
try:
    poolers, select, utils = map(import_module, ("tgp.poolers", "tgp.select", "tgp.utils"))
    SEPSelect = select.SEPSelect
except ModuleNotFoundError as error:
    MISSING = error


class CodingTreeSelect(SEPSelect):  # type: ignore[misc]
    """The SEP selector of torch-geometric-pool, with the coding trees of this package.

    The nodes of a batch must be sorted by their graph, as in batches of PyG.

    Args:
        method: "best", "fast" or "paper"; see `sepool.coding_tree`.
        seed: of the search of "best"; another seed may give a tree of slightly other entropy.
        num_threads: the number of threads that build the trees of a batch, all cores by default.
        s_inv_op: the inverse of the assignment in `tgp`: "transpose" or "inverse".

    Raises:
        ImportError: torch-geometric-pool is not installed.
    """

    def __init__(
        self,
        method: str = "best",
        *,
        seed: int = 0,
        num_threads: int | None = None,
        s_inv_op: str = "transpose",
    ) -> None:
        _require_tgp()
        super().__init__(s_inv_op=s_inv_op)
        core_options(1, method, seed, num_threads, None)
        self.method, self.seed, self.num_threads = method, seed, num_threads

    def multi_level_select(
        self,
        edge_index: Any = None,
        edge_weight: Tensor | None = None,
        *,
        batch: Tensor | None = None,
        num_nodes: int | None = None,
        levels: int = 1,
        **kwargs: Any,
    ) -> list[Any]:
        """Return a ``SelectOutput`` for every level below the root of trees of ``levels + 1``.

        Raises:
            ValueError: ``levels`` is below 1, or ``batch`` has another number of nodes or is
                not sorted.
        """
        if levels < 1:
            raise ValueError(f"'levels' must be >= 1, got {levels}")
        edge_index, edge_weight = utils.connectivity_to_edge_index(edge_index, edge_weight)
        if num_nodes is None:
            highest = int(edge_index.max()) if edge_index.numel() else -1
            num_nodes = highest + 1 if batch is None else len(batch)
        if batch is not None and len(batch) != num_nodes:
            raise ValueError(
                f"'batch' must have one entry a node, got {len(batch)} for {num_nodes} nodes"
            )
        if num_nodes == 0:
            options = {"batch": batch, "num_nodes": 0, "levels": levels}
            empty: list[Any] = super().multi_level_select(edge_index, edge_weight, **options)
            return empty
        batch = edge_index.new_zeros(num_nodes) if batch is None else batch
        forest = self._trees(edge_index, edge_weight, batch, levels + 1)
        outputs = []
        counts = forest.counts.sum(0).tolist()
        for clusters, count in zip(global_parents(forest)[:levels], counts[1:], strict=False):
            index = torch.from_numpy(clusters).to(edge_index.device)
            outputs.append(
                select.SelectOutput(
                    cluster_index=index, num_supernodes=count, s_inv_op=self.s_inv_op
                )
            )
        return outputs

    def _trees(
        self, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor, height: int
    ) -> Forest:
        if bool((batch[1:] < batch[:-1]).any()):
            raise ValueError("the nodes of a batch must be sorted by their graph")
        _, graph, sizes = torch.unique_consecutive(batch, return_inverse=True, return_counts=True)
        nodes = pointers(sizes.cpu().numpy())
        owner, order = graph[edge_index[0]].sort(stable=True)
        row, col = (edge_index[:, order].cpu().numpy()) - nodes[owner.cpu().numpy()]
        weight = None
        if edge_weight is not None:
            weight = edge_weight.detach().flatten()[order].double().cpu().numpy()
        ends = pointers(np.bincount(owner.cpu().numpy(), minlength=len(nodes) - 1))
        # Every arc counts as an edge, so that lists of one direction have a tree as well; with both
        # directions it is the same tree.
        rows = sorted_rows(nodes, ends, row, col, weight, both=False, self_loops=False)
        options: dict[str, Any] = {"method": self.method, "seed": self.seed}
        graphs = GraphBatch(nodes, *rows)
        return Forest.of(coding_trees(graphs, height, num_threads=self.num_threads, **options))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(SEPSelect, method={self.method!r}, seed={self.seed})"


def coding_tree_pooling(
    method: str = "best", *, seed: int = 0, num_threads: int | None = None, **options: Any
) -> Any:
    """Return the SEP pooler of torch-geometric-pool with `CodingTreeSelect` as its selector.

    Args:
        method: as in `CodingTreeSelect`.
        seed: as in `CodingTreeSelect`.
        num_threads: as in `CodingTreeSelect`.
        **options: those of ``tgp.poolers.SEPPooling``, for instance ``remove_self_loops``.
    """
    _require_tgp()
    pooler = poolers.SEPPooling(**options)
    inverse = options.get("s_inv_op", "transpose")
    pooler.selector = CodingTreeSelect(method, seed=seed, num_threads=num_threads, s_inv_op=inverse)
    return pooler


def select_output(levels: Hierarchy, level: int) -> Any:
    """Return a level of a hierarchy as the ``SelectOutput`` of torch-geometric-pool."""
    _require_tgp()
    if not 1 <= level <= levels.height:
        raise ValueError(f"level must be 1 to {levels.height}, the height of the tree, got {level}")
    clusters = levels.assignment(level)
    return select.SelectOutput(cluster_index=clusters, num_supernodes=levels.num_clusters(level))


def released_trees(
    edges: Sequence[NDArray[Any]], nodes: Sequence[int] | NDArray[np.int64], height: int
) -> TreeBatch:
    """Return the trees of the SEP selector of torch-geometric-pool, a port of the released code.

    Args:
        edges: the undirected edges of every graph, one row an edge.
        nodes: the number of nodes of every graph.
        height: the height of the trees, at least 2.
    """
    _require_tgp()
    selector, trees = SEPSelect(), []
    for pairs, count in zip(edges, nodes, strict=True):
        both = torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]).T.astype(np.int64))
        outputs = selector.multi_level_select(both, num_nodes=int(count), levels=height - 1)
        labels, levels = np.arange(count), []
        for output in outputs:
            labels = output.cluster_index.numpy()[labels]
            levels.append(labels)
        graph = as_graph(np.asarray(pairs, np.int64).reshape(-1, 2), num_nodes=int(count))
        trees.append(CodingTree.from_levels(graph, levels))
    starts = pointers([sum(tree.counts) for tree in trees])[:-1]
    return TreeBatch(
        np.array([tree.counts for tree in trees]),
        np.concatenate([tree.parent for tree in trees]),
        np.concatenate([tree.volume for tree in trees]).astype(np.int64),
        np.concatenate([tree.boundary for tree in trees]).astype(np.int64),
        np.array([tree.entropy for tree in trees]),
        np.ones(len(trees)),
        np.column_stack([starts - np.arange(len(trees)), starts]),
    )


def _require_tgp() -> None:
    if MISSING is not None:
        raise MissingPackage(
            f"sepool.integrations.tgp needs torch-geometric-pool ({MISSING}): "
            "pip install --no-build-isolation torch-geometric-pool",
            name="tgp",
        ) from MISSING
