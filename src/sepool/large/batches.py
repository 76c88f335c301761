"""Searches of batches of nodes, one after the other, among the clusters of all other nodes.

A batch is a graph of its nodes and of the rests of the clusters, as groups, so that a search in
memory has the exact change of the entropy. The edges of every batch fit into memory.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sepool.large import statements
from sepool.large.contracted import Contracted, Ends, IntArray, read_ends, totals
from sepool.large.engine import Columns, Engine
from sepool.large.options import Options
from sepool.large.state import Figures, State

SWEEPS = 3
_LEAST_FALL = 0.002  # bits, for which a batch of a further sweep is worth the others
_ROUNDING = 1e-9  # bits; smaller falls are none


def refine(state: State, options: Options) -> str:
    """Search all batches of nodes, from the clusters of ``flat_0``; return the table of labels.

    Further sweeps, over batches of the new clusters, end where the first batch gains little.
    """
    engine, number, first = state.engine, 0, 0.0
    for sweep in range(1, SWEEPS + 1):
        plan = partial(_plan, engine, options.max_edges, number)
        figures = state.run(f"sweep {sweep}, batches", (*_tables(number + 1), "ends"), plan)
        count = figures["batches"]
        for batch in range(count):
            engine.drop(*_tables(number))
            number += 1
            work = partial(_search, engine, options.threads, number, batch)
            name = f"sweep {sweep}, batch {batch + 1} of {count}"
            fall = state.run(name, _tables(number + 1), work)["fall"]
            first = fall if batch == 0 else first
            if sweep > 1 and first < _LEAST_FALL:
                break
        engine.drop("ends", *_tables(number))
        number += 1
        if count == 1 or (sweep > 1 and first < _LEAST_FALL):
            break
    engine.drop(f"clusters_{number}")
    return f"flat_{number}"


def _tables(number: int) -> tuple[str, str]:
    return f"flat_{number}", f"clusters_{number}"


def _plan(engine: Engine, max_edges: int, number: int) -> Figures:
    """Store the batches of nodes, those of the ends of edges, and the sizes of the clusters."""
    flat = f"flat_{number}"
    engine.store("joined", statements.joined_edges("edges_0", flat))
    sizes = engine.arrays(statements.cluster_sizes("joined", flat))
    columns = {name: sizes[name] for name in ("cluster", "volume", "inner")}
    engine.put(f"clusters_{number + 1}", columns)
    batch, pieces, count = plan_batches(sizes["ends"], sizes["nodes"], max_edges)
    engine.put("plan", {"cluster": sizes["cluster"], "batch": batch, "pieces": pieces})
    engine.store("ends", statements.batch_edges("joined", "plan"))
    engine.store(f"flat_{number + 1}", statements.batch_labels(flat, "plan"))
    engine.drop("joined", "plan")
    return {"batches": count, "items": int(sizes["nodes"].sum()), "clusters": len(batch)}


def plan_batches(ends: IntArray, nodes: IntArray, most: int) -> tuple[IntArray, IntArray, int]:
    """Return the first batch of every cluster, over how many it is spread, and the number of all.

    Args:
        ends: number of edges at the nodes of every cluster.
        nodes: number of nodes of every cluster.
        most: number of edges of a batch.

    Example:
        >>> batch, pieces, count = plan_batches(np.array([4, 9, 2, 3]), np.array([5, 5, 1, 2]), 6)
        >>> batch.tolist(), pieces.tolist(), count
        ([0, 1, 3, 3], [1, 2, 1, 1], 4)
    """
    batch = np.zeros(len(ends), np.int64)
    pieces = np.clip(-(-ends // most), 1, nodes)
    at, total, filled = 0, 0, 0
    for k, (size, parts) in enumerate(zip(ends.tolist(), pieces.tolist(), strict=True)):
        if filled and (parts > 1 or total + size > most):
            at, total, filled = at + 1, 0, 0
        batch[k] = at
        total, filled = total + size, filled + 1
        if parts > 1:
            at, total, filled = at + parts, 0, 0
    return batch, pieces, at + (filled > 0)


def _search(engine: Engine, threads: int, number: int, batch: int) -> Figures:
    """Store the labels after the search of a batch, which are kept where the entropy falls."""
    flat, after = f"flat_{number}", f"flat_{number + 1}"
    clusters = engine.arrays(f"SELECT * FROM clusters_{number} ORDER BY cluster")
    nodes = engine.arrays(
        f"SELECT id, volume, cluster FROM {flat} WHERE batch = {batch} ORDER BY id"
    )
    inside = read_ends(engine, statements.inside(batch), nodes["id"], nodes["id"])
    across = read_ends(engine, statements.across(flat, batch), nodes["id"], clusters["cluster"])
    edges = len(inside[0]) + len(across[0])
    graph, before = group_rests(nodes, clusters, inside, across)
    del inside, across
    labels = name_clusters(graph.clusters(threads), graph.volume, len(nodes["id"]))
    fall = (graph.cost(before) - graph.cost(labels)) * 2 / int(graph.volume.sum())
    if fall < _ROUNDING:
        labels, fall = before, 0.0
    volume, inner = graph.sums(labels, int(labels.max()) + 1)
    new = int(clusters["cluster"][-1]) + 1 + np.arange(len(volume) - len(clusters["cluster"]))
    names = np.concatenate([clusters["cluster"], new])
    own = labels[: len(nodes["id"])]
    used = volume > 0
    used[: len(clusters["volume"])] |= clusters["volume"] == 0  # of isolated nodes
    used[own] = True
    columns = {"cluster": names[used], "volume": volume[used], "inner": inner[used]}
    engine.put(f"clusters_{number + 1}", columns)
    moved = np.flatnonzero(own != before[: len(own)])
    engine.put("moved", {"id": nodes["id"][moved], "cluster": names[own[moved]]})
    engine.store(after, statements.moved(flat, "moved", ("batch",)))
    engine.drop("moved")
    return {"items": len(own), "edges": edges, "fall": fall}


def group_rests(
    nodes: Columns, clusters: Columns, inside: Ends, across: Ends
) -> tuple[Contracted, IntArray]:
    """Return the graph of the nodes of a batch and the rests of all clusters, and its labels.

    Args:
        nodes: volume and cluster of the nodes.
        clusters: cluster, volume and inner of all clusters, sorted.
        inside: edges between the nodes.
        across: edges from nodes to clusters without the nodes of the batch.
    """
    n, count = len(nodes["cluster"]), len(clusters["cluster"])
    own = np.searchsorted(clusters["cluster"], nodes["cluster"])
    inner = clusters["inner"].copy()
    for (u, _, w), to in ((inside, own[inside[1]]), (across, across[1])):
        same = own[u] == to
        inner -= totals(to[same], w[same], count)
    u = np.concatenate([inside[0], across[0]])
    v = np.concatenate([inside[1], across[1] + np.int32(n)])
    graph = Contracted(
        (u, v, np.concatenate([inside[2], across[2]])),
        np.concatenate([nodes["volume"], clusters["volume"] - totals(own, nodes["volume"], count)]),
        np.concatenate([np.zeros(n, np.int64), inner]),
    )
    return graph, np.concatenate([own, np.arange(count)])


def name_clusters(labels: IntArray, volume: IntArray, nodes: int) -> IntArray:
    """Return labels by which the rest of every cluster, after the nodes, has its position.

    A new cluster is that of its largest rest; other rests leave it. Clusters without a rest are
    numbered after the positions.
    """
    count = len(labels) - nodes
    rests = volume[nodes:]
    order = np.lexsort((np.arange(count), rests))  # the largest last
    name = np.full(int(labels.max()) + 1, -1)
    order = order[rests[order] > 0]
    name[labels[nodes + order]] = order
    free = np.flatnonzero((name < 0) & (np.bincount(labels[:nodes], minlength=len(name)) > 0))
    name[free] = count + np.arange(len(free))
    return np.concatenate([name[labels[:nodes]], np.arange(count)])
