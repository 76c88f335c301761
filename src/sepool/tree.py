"""The coding tree: a hierarchy of clusters of the nodes of a graph, in flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import checked_seed, checked_threads, whole_number
from sepool.graph.edges import Names
from sepool.graph.graph import Graph, as_graph
from sepool.levels import (
    Labels,
    as_levels,
    at_levels,
    cluster_names,
    communities,
    contributions,
    fields_of,
    names_of,
    sum_of_contributions,
)

if TYPE_CHECKING:
    from sepool.depth.significance import Significance
    from sepool.depth.update import Matching
    from sepool.export.summary import TreeSummary
    from sepool.files.atomic import StrPath


@dataclass(frozen=True, eq=False, repr=False)
class CodingTree:
    """A coding tree; `sepool.coding_tree` builds one, `from_levels` takes one from elsewhere.

    Level 0 are the nodes of the graph, level ``height`` is the root, and every node of a level has
    its parent on the next. Clusters are numbered so that siblings are adjacent.

    Attributes:
        counts: number of nodes on each level.
        parent: the parent of every node but the root, as its number on the next level; flat, level
            after level.
        volume: the sum of the degrees below every node, flat.
        boundary: the weight of the edges that leave every node, flat.
        entropy: the structural entropy of the graph on this tree, in bits.
        names: the labels of the graph's nodes, or None for 0, 1, 2, ...
        graph: the graph, where `sepool.coding_tree` or `from_levels` made the tree; it is neither
            compared nor saved.

    Example:
        >>> import sepool
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> tree = sepool.coding_tree(bridge, height=2)
        >>> tree
        CodingTree(height=2, nodes=6, clusters=[6, 2, 1], entropy=1.6995)
        >>> tree.labels(1)
        array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    counts: tuple[int, ...]
    parent: NDArray[np.int32]
    volume: NDArray[np.float64]
    boundary: NDArray[np.float64]
    entropy: float
    names: Names | None = None
    graph: Graph | None = field(default=None, compare=False)

    @property
    def height(self) -> int:
        """Level of the root, and depth of every node of the graph."""
        return len(self.counts) - 1

    @property
    def num_nodes(self) -> int:
        """Number of nodes of the graph."""
        return self.counts[0]

    def num_clusters(self, level: int) -> int:
        """Return the number of tree nodes on a level."""
        return self.counts[self._level(level)]

    @property
    def top(self) -> int:
        """Highest level of clusters below the root, 0 where there is none."""
        return self.height - 1

    def level_with(self, num_clusters: int) -> int:
        """Return the level whose number of clusters is nearest to the given one.

        The nodes, level 0, and the root count; of two equally near levels the finer one.

        Example:
            >>> CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1]).level_with(2)
            1
        """
        number = whole_number("num_clusters", num_clusters, 1)
        return min(range(self.height + 1), key=lambda level: abs(self.counts[level] - number))

    def at(self, *levels: int) -> CodingTree:
        """Return the tree that has only these levels of clusters.

        Example:
            >>> tree = CodingTree.from_levels([(0, 1), (2, 3)], [[0, 0, 1, 2], [0, 0, 1, 1]])
            >>> tree.at(2)
            CodingTree(height=2, nodes=4, clusters=[4, 2, 1], entropy=1.0000)
        """
        return at_levels(self, levels)

    def assignment(self, level: int) -> NDArray[np.int32]:
        """Return the cluster on this level of every node on the level below, the paper's ``S``."""
        return self.parent[self._slice(self._level(level, lowest=1) - 1)].copy()

    def labels(self, level: int) -> NDArray[np.int32]:
        """Return the cluster on this level of every node of the graph, in the order of its nodes.

        Nodes of a networkx graph are in the order of ``list(graph)``.

        Example:
            >>> import networkx as nx, sepool
            >>> graph = nx.Graph(["ab", "cd"])
            >>> dict(zip(graph, sepool.coding_tree(graph).labels(1).tolist()))
            {'a': 0, 'b': 0, 'c': 1, 'd': 1}
        """
        labels = np.arange(self.num_nodes, dtype=np.int32)
        for above in range(1, self._level(level) + 1):
            labels = self.assignment(above)[labels]
        return labels

    def cluster_sizes(self, level: int) -> NDArray[np.int64]:
        """Return the number of graph nodes in every cluster of this level."""
        return np.bincount(self.labels(level))

    def members(self, level: int, cluster: int) -> NDArray[np.int64]:
        """Return the numbers of the graph nodes in one cluster.

        Example:
            >>> CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1]).members(1, 1)
            array([2, 3])
        """
        whole_number("cluster", cluster, 0, self.num_clusters(level) - 1)
        return np.flatnonzero(self.labels(level) == cluster)

    def cluster_names(self, level: int, count: int = 3) -> list[str]:
        """Return a name for every cluster: its members of the largest degree, at most ``count``.

        Example:
            >>> tree = CodingTree.from_levels([(0, 1), (0, 2), (3, 4)], [0, 0, 0, 1, 1])
            >>> tree.cluster_names(1, count=1)
            ['0', '3']
        """
        return cluster_names(self, level, whole_number("count", count, 1))

    def communities(self, level: int, nodes: Iterable[Hashable] | None = None) -> list[set[Any]]:
        """Return the clusters of this level as sets of nodes, the communities of networkx.

        Args:
            level: of the clusters.
            nodes: other names of the nodes, in their order; by default `names`, or 0, 1, 2, ...

        Raises:
            ValueError: two nodes have the same name, or the names are those of the tree in another
                order.

        Example:
            >>> import networkx as nx, sepool
            >>> graph = nx.Graph(["ab", "bc", "ca", "cd", "de", "ef", "fd"])
            >>> communities = sepool.coding_tree(graph, height=2).communities(1)
            >>> [sorted(community) for community in communities]
            [['a', 'b', 'c'], ['d', 'e', 'f']]
            >>> round(nx.community.modularity(graph, communities), 3)
            0.357
        """
        return communities(self, level, names_of(self) if nodes is None else nodes)

    def volumes(self, level: int) -> NDArray[np.float64]:
        """Return the sum of the degrees in every cluster of this level."""
        return self.volume[self._slice(self._level(level))].copy()

    def boundaries(self, level: int) -> NDArray[np.float64]:
        """Return the weight of the edges that leave every cluster of this level."""
        return self.boundary[self._slice(self._level(level))].copy()

    def contributions(self, level: int) -> NDArray[np.float64]:
        """Return the share of every node of this level in the entropy, in bits (Eq. 3).

        A node of volume ``v`` and boundary ``g`` adds ``g / V log2(p / v)``, where ``p`` and ``V``
        are the volumes of its parent and of the root; the root adds nothing.

        Example:
            >>> CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1]).contributions(0)
            array([0.25, 0.25, 0.25, 0.25])
        """
        return contributions(self, level)

    @classmethod
    def from_levels(cls, graph: Any, labels: Labels) -> CodingTree:
        """Return the coding tree of any nested clustering; its height is the number of levels + 1.

        Args:
            graph: anything `sepool.as_graph` takes.
            labels: the cluster of every node, integers or strings, in the order of the nodes; or a
                dictionary from nodes to clusters; or a list of sets of nodes, the communities of
                networkx; or a clustering of igraph or leidenalg; or a list of any of these, finest
                first, each nested in the next. Clusters are renumbered.

        Raises:
            ValueError: the labels do not fit the graph, or are not nested.

        Example:
            >>> CodingTree.from_levels([(0, 1), (2, 3), (4, 5), (6, 7)], list("aabbccdd"))
            CodingTree(height=2, nodes=8, clusters=[8, 4, 1], entropy=1.0000)
            >>> CodingTree.from_levels([(0, 1), (2, 3)], [{0, 1}, {2, 3}])
            CodingTree(height=2, nodes=4, clusters=[4, 2, 1], entropy=1.0000)
        """
        graph = as_graph(graph)
        tree = cls(*fields_of(graph, as_levels(labels, graph)), np.nan, graph.names, graph)
        return replace(tree, entropy=sum_of_contributions(tree))

    def significance(
        self, graph: Any = None, *, trials: int = 20, seed: int = 0, num_threads: int | None = None
    ) -> Significance:
        """Return the bits that levels and clusters save beyond chance, with standard errors.

        Every split of a cluster is compared with rewired graphs of the same degrees, in which only
        edges between the clusters at hand have been exchanged, and which are searched as hard.

        Args:
            graph: the graph, where the tree does not have it (after loading, or from a batch).
            trials: number of rewired graphs, 2 or more.
            seed: of the rewiring.
            num_threads: number of threads, all cores by default.

        Example:
            >>> import sepool
            >>> cliques = [(i, j) for i in range(27) for j in range(i) if i // 9 == j // 9]
            >>> tree = sepool.coding_tree([*cliques, (0, 9), (9, 18)])
            >>> print(tree.significance())
            level  splits  significant  bits beyond chance
                1       1            1    0.6854 +- 0.0214
        """
        from sepool.depth.significance import significance

        whole_number("trials", trials, 2)
        return significance(
            self,
            self._graph(graph),
            trials=trials,
            seed=checked_seed(seed),
            num_threads=checked_threads(num_threads),
        )

    def matched(self, earlier: CodingTree) -> Matching:
        """Return the cluster of an earlier tree that each cluster continues (see `sepool.update`).

        Clusters are matched by the largest number of common nodes, level by level.
        """
        from sepool.depth.update import match

        return match(self, earlier)

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` from parents to children, with nodes ``(level, index)``.

        Nodes have the attributes ``level``, ``volume``, ``boundary``, ``entropy`` (their share of
        it) and, on level 0, ``name``.

        Example:
            >>> digraph = CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1]).to_networkx()
            >>> digraph.nodes[1, 0]
            {'level': 1, 'volume': 2.0, 'boundary': 0.0, 'entropy': 0.0}
            >>> list(digraph.successors((1, 0)))
            [(0, 0), (0, 1)]
        """
        from sepool.graph.digraph import tree_digraph

        return tree_digraph(self)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a data frame with a row a node, of ``pandas`` or ``polars``.

        The columns are ``node``, the names in the order of the nodes, and ``level_1``, ``level_2``,
        ... up to the coarsest, the numbers of the clusters (`labels`).

        Example:
            >>> CodingTree.from_levels([(0, 1)], [0, 1]).to_frame()
               node  level_1
            0     0        0
            1     1        1
        """
        from sepool.export.tables import frame

        return frame(self, library)

    def to_linkage(self) -> NDArray[np.float64]:
        """Return the linkage matrix of `scipy.cluster.hierarchy`, its heights the levels.

        Clusters of more than two children are merges at equal height, so that
        ``fcluster(linkage, level, "distance")`` has the clusters of a level.

        Example:
            >>> CodingTree.from_levels([(0, 1), (1, 2)], [0, 0, 1]).to_linkage()
            array([[0., 1., 1., 2.],
                   [2., 3., 2., 3.]])
        """
        from sepool.export.linkage import linkage

        return linkage(self)

    def summary(self) -> TreeSummary:
        """Return sizes, entropy and the clusters of every level; ``print`` shows a table.

        Example:
            >>> print(CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1]).summary())
            4 nodes, 2 edges, height 2
            entropy 1.0000 bits, 50.0% less than without clusters (2.0000)
            level  clusters  smallest  median  largest    bits  largest clusters
                1         2         2       2        2  0.0000  0, 1 | 2, 3
        """
        from sepool.export.summary import summary

        return summary(self)

    def _repr_html_(self) -> str:
        """Return the dendrogram of the coarse levels and the summary for notebooks."""
        from sepool.export.html import page

        return page(self)

    def save(self, path: StrPath) -> None:
        """Write a file in the format of its ending, whole or not at all.

        Args:
            path: ends in ``.json`` or ``.npz`` (which `load` reads), ``.csv``, ``.tsv``,
                ``.parquet`` (`to_frame`), ``.clu``, ``.tree`` (Infomap), ``.nwk`` (Newick),
                ``.graphml`` or ``.d3.json`` (d3-hierarchy); text may be gzipped: ``.csv.gz``.

        Raises:
            TypeError: the format cannot hold the type of a name.
            ValueError: the ending is of no format, or the format cannot hold the tree.
        """
        from sepool.export.formats import write

        write(self, path)

    @classmethod
    def load(cls, path: StrPath) -> CodingTree:
        """Read a tree that `save` wrote; nothing in the file is executed.

        Raises:
            sepool.TreeFormatError: the file is truncated, or not a tree.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> tree = CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1])
            >>> with TemporaryDirectory() as folder:
            ...     tree.save(f"{folder}/tree.json")
            ...     CodingTree.load(f"{folder}/tree.json")
            CodingTree(height=2, nodes=4, clusters=[4, 2, 1], entropy=1.0000)
        """
        from sepool.files.tree import TreeFormatError, read_tree

        tree = cls(*read_tree(path))
        bits = sum_of_contributions(tree)
        if abs(bits - tree.entropy) > 1e-6 * max(1, bits):
            raise TreeFormatError(f"{path}: entropy {tree.entropy}, but its nodes add up to {bits}")
        return tree

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodingTree):
            return NotImplemented
        if (self.counts, self.names) != (other.counts, other.names):
            return False
        arrays = ("parent", "volume", "boundary")
        return all(np.array_equal(getattr(self, x), getattr(other, x)) for x in arrays)

    def __hash__(self) -> int:
        return hash((tuple(self.counts), np.asarray(self.parent, np.int32).tobytes()))

    def __repr__(self) -> str:
        return (
            f"CodingTree(height={self.height}, nodes={self.num_nodes}, "
            f"clusters={list(self.counts)}, entropy={self.entropy:.4f})"
        )

    def _graph(self, graph: Any) -> Graph:
        """Return the graph of the tree, or the one given in its place."""
        if graph is not None:
            return as_graph(graph)
        if self.graph is None:
            raise ValueError("the tree does not have its graph; pass it as graph=")
        return self.graph

    def _level(self, level: int, lowest: int = 0) -> int:
        return whole_number("level", level, lowest, self.height)

    def _slice(self, level: int) -> slice:
        start = sum(self.counts[:level])
        return slice(start, start + self.counts[level])
