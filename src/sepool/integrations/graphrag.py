"""Communities for Microsoft GraphRAG, in place of its step ``create_communities``.

The tables have the columns that GraphRAG documents and its later steps read (community reports,
local and global search)::

    import pandas as pd
    from sepool.integrations.graphrag import communities

    tables = [pd.read_parquet(f"output/{name}.parquet") for name in ("entities", "relationships")]
    communities(*tables).to_parquet("output/communities.parquet")
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from numpy.typing import NDArray

from sepool.build import coding_tree
from sepool.extras import needs
from sepool.graph.graph import Graph, as_graph
from sepool.tree import CodingTree

with needs("io", "sepool.integrations.graphrag"):
    import pandas as pd

    from sepool.integrations.graphrag_tables import entity_links, entity_nodes

COLUMNS = (
    *("id", "human_readable_id", "community", "level", "parent", "children", "title"),
    *("entity_ids", "relationship_ids", "text_unit_ids", "period", "size"),
)
_NAMESPACE = uuid5(NAMESPACE_URL, "sepool:graphrag:communities")


def communities(
    entities: Any,
    relationships: Any,
    *,
    height: int | None = None,
    num_clusters: int | None = None,
    min_size: int = 1,
    seed: int = 0,
    trials: int = 1,
    use_lcc: bool = False,
    period: str | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return GraphRAG's table of communities, on the levels that the relationships support.

    As in GraphRAG, level 0 is the coarsest, communities are numbered from there on, the parent of
    a community of level 0 is -1, one that is not divided further has no copy on the next level, and
    entities without relationships are in no community, nor are communities without a relationship
    of their own in the table. The result depends neither on the order of the rows nor on a random
    number: ``id`` is a UUID made of the titles of the members.

    Args:
        entities: GraphRAG's table of entities; ``id`` and ``title`` are read.
        relationships: its table of relationships; read are ``id``, ``source`` and ``target``
            (titles of entities), ``weight`` (1 without the column) and ``text_unit_ids`` (none
            without it). Relationships of the same two entities add up.
        height: as in `sepool.coding_tree`; None chooses the levels, 2 gives one level, 3 two.
        num_clusters: number of communities on level 0, before those without a relationship of
            their own are left out.
        min_size: least number of entities in a community.
        seed: of the search.
        trials: number of seeds.
        use_lcc: keep the largest connected component alone, as GraphRAG's setting of this name.
        period: date of the index, as ``2025-01-31``; today by default.
        num_threads: number of threads, all cores by default.

    Returns:
        A ``pandas.DataFrame`` with the columns `COLUMNS`, a row a community.

    Raises:
        ValueError: a column is missing, a title or an id is missing or repeated, a weight is
            impossible, or no relationship joins two entities.

    Warns:
        UserWarning: relationships name entities that are not in the table; they are left out.

    Example:
        >>> import pandas as pd
        >>> pairs = [(i, j) for i in range(24) for j in range(i) if i // 8 == j // 8]
        >>> ends = pd.DataFrame([*pairs, (8, 0), (16, 8)], columns=["source", "target"])
        >>> relationships = ("topic " + ends.astype(str)).assign(id=range(len(ends)))
        >>> titles = [f"topic {i}" for i in range(24)]
        >>> entities = pd.DataFrame({"id": titles, "title": titles})
        >>> communities(entities, relationships)[["community", "level", "parent", "size"]]
           community  level  parent  size
        0          0      0      -1     8
        1          1      0      -1     8
        2          2      0      -1     8
    """
    nodes = entity_nodes(entities)
    links = entity_links(relationships, nodes)
    graph, members = _graph_of(links, len(nodes), use_lcc)
    tree = coding_tree(
        graph,
        height,
        seed=seed,
        trials=trials,
        num_clusters=num_clusters,
        min_size=min_size,
        num_threads=num_threads,
    )
    position = np.full(len(nodes), -1)
    position[members] = np.arange(len(members))
    links = links.assign(u=position[links["u"]], v=position[links["v"]])
    links = links[(links["u"] >= 0) & (links["v"] >= 0)]
    hierarchy = _hierarchy(tree)
    inside = _inside(hierarchy, links)
    clusters = hierarchy.order(inside["cluster"].unique())
    day = datetime.now(timezone.utc).date().isoformat() if period is None else period
    return _table(hierarchy, clusters, nodes.iloc[members], inside, day)


def _graph_of(links: Any, num_nodes: int, use_lcc: bool) -> tuple[Graph, NDArray[np.int64]]:
    """Return the graph of the entities that have relationships, and their positions."""
    joins = links[(links["u"] != links["v"]) & (links["weight"] > 0)]
    if joins.empty:
        raise ValueError(
            "no relationship of a positive weight joins two entities; source and target must be "
            "titles of entities"
        )
    pairs = joins[["u", "v"]].to_numpy(np.int64)
    weights = joins["weight"].to_numpy()
    if use_lcc:
        inside = _largest_component(pairs, num_nodes)[pairs[:, 0]]
        pairs, weights = pairs[inside], weights[inside]
    members, pairs = np.unique(pairs, return_inverse=True)
    graph = as_graph((pairs.reshape(-1, 2), weights), num_nodes=len(members))
    return graph, members


def _largest_component(pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.bool_]:
    """Return the nodes of the largest component, of several the one of the first title."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    shape = (num_nodes, num_nodes)
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=shape)
    _, labels = connected_components(matrix, directed=False)
    largest: NDArray[np.bool_] = labels == np.bincount(labels).argmax()
    return largest


class _Hierarchy(NamedTuple):
    """The clusters of a tree without those that are the only child of a cluster."""

    parent: NDArray[np.int64]  # of each cluster, -1 for those of level 0
    level: NDArray[np.int64]  # of each cluster: the number of clusters above
    labels: list[NDArray[np.int64]]  # by level of the tree: the cluster of each node, -1 for none

    def members(self) -> list[NDArray[np.int64]]:
        """Return the nodes of each cluster."""
        labels = np.concatenate(self.labels)
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(len(self.parent) + 1))
        nodes = order % len(self.labels[0])
        return [nodes[start:end] for start, end in pairwise(ends.tolist())]

    def order(self, listed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return clusters in the order of their levels, their parents and their sizes."""
        members = self.members()
        size = np.array([len(nodes) for nodes in members])
        first = np.array([nodes[0] for nodes in members])
        rank = np.full(len(members), -1)
        parts: list[NDArray[np.int64]] = []
        for level in range(self.level.max() + 1):
            part = listed[self.level[listed] == level]
            above = rank[self.parent[part]] if level else np.zeros(len(part), np.int64)
            parts.append(part[np.lexsort((first[part], -size[part], above))])
            rank[parts[-1]] = np.arange(len(part))
        return np.concatenate(parts)


def _hierarchy(tree: CodingTree) -> _Hierarchy:
    """Return the clusters of a tree; without clusters, the one of all nodes."""
    if tree.top == 0:
        tree = CodingTree.from_levels(tree.graph, np.zeros(tree.num_nodes, np.int64))
    number, depth = np.array([-1]), np.array([-1])  # of the clusters on the level above
    parents, depths, labels, size = [], [], [], 0
    for level in range(tree.top, 0, -1):
        above = tree.assignment(level + 1)
        new = (np.bincount(above)[above] > 1) | (level == tree.top)
        parents.append(number[above][new])
        number = np.where(new, size + np.cumsum(new) - 1, number[above])
        depth = depth[above] + new
        depths.append(depth[new])
        labels.append(np.where(new, number, -1)[tree.labels(level)])
        size += int(new.sum())
    return _Hierarchy(np.concatenate(parents), np.concatenate(depths), labels)


def _inside(hierarchy: _Hierarchy, links: Any) -> Any:
    """Return a row for each cluster and relationship of two of its nodes."""
    parts = []
    for labels in hierarchy.labels:
        cluster = labels[links["u"]]
        inside = (cluster == labels[links["v"]]) & (cluster >= 0)
        part = links.loc[inside, ["id", "text_unit_ids"]]
        parts.append(part.assign(cluster=cluster[inside]))
    return pd.concat(parts)


def _table(
    hierarchy: _Hierarchy, clusters: NDArray[np.int64], nodes: Any, inside: Any, period: str
) -> Any:
    """Return the table of the clusters, a row each, in this order."""
    number = np.full(len(hierarchy.parent), -1)
    number[clusters] = numbers = np.arange(len(clusters))
    parent = np.where(hierarchy.level > 0, number[hierarchy.parent], -1)[clusters]
    by_parent = np.argsort(parent, kind="stable")
    ends = np.searchsorted(parent[by_parent], np.arange(len(clusters) + 1))
    members = hierarchy.members()
    ids, titles = nodes["id"].to_numpy(), nodes["title"].to_numpy()
    rows = [members[cluster] for cluster in clusters]
    links = inside.groupby("cluster")[["id", "text_unit_ids"]].agg(list).loc[clusters]
    return pd.DataFrame(
        {
            "id": [str(uuid5(_NAMESPACE, json.dumps(titles[row].tolist()))) for row in rows],
            "human_readable_id": numbers,
            "community": numbers,
            "level": hierarchy.level[clusters],
            "parent": parent,
            "children": [by_parent[start:end] for start, end in pairwise(ends.tolist())],
            "title": [f"Community {community}" for community in numbers],
            "entity_ids": [ids[row].tolist() for row in rows],
            "relationship_ids": links["id"].to_list(),
            "text_unit_ids": [sorted(set().union(*units)) for units in links["text_unit_ids"]],
            "period": period,
            "size": [len(row) for row in rows],
        },
        columns=list(COLUMNS),
    )
