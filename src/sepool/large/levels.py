"""The levels of the tree: from the contracted graph to labels of all nodes."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sepool.large import native, statements
from sepool.large.batches import refine
from sepool.large.contracted import read_contracted
from sepool.large.engine import Engine
from sepool.large.options import Options
from sepool.large.rounds import store_items
from sepool.large.state import Figures, State

_BASE = "id, volume, degree"
# As an equality the condition would join all pairs of nodes of a cluster.
_SAME = "CASE WHEN a.cluster = b.cluster THEN 1 ELSE 0 END = 1"


def store_tree(state: State, options: Options, volume: int, contractions: int) -> int:
    """Store ``tree(id, volume, degree, level_1, ...)``, return its height.

    A graph that fits is searched as a whole. Otherwise the flat clusters of the contracted graph
    are refined batch by batch; levels above them come from the graph of clusters, levels
    inside from a search in every cluster, and the split with the lowest entropy is taken.
    """
    if not contractions:
        work = partial(_search_whole, state.engine, options)
        return int(state.run("search", ("tree",), work)["height"])
    work = partial(_search_flat, state.engine, options, contractions)
    height = int(state.run("search", ("items", "flat_0"), work)["height"])
    flat = refine(state, options) if height > 1 else "flat_0"
    if height <= 2:
        level = "" if height == 1 else ", cluster AS level_1"
        sql = f"SELECT {_BASE}{level} FROM {flat}"
    else:
        sql = _split(state, options, flat, height, volume)
    state.run("levels", ("tree",), partial(_store, state.engine, sql))
    return height


def _store(engine: Engine, sql: str) -> Figures:
    engine.store("tree", sql)
    return {"items": engine.number("SELECT COUNT(*) FROM tree")}


def _search_whole(engine: Engine, options: Options) -> Figures:
    graph, ids = native.load(engine, "edges_0", "labels_0_0")
    tree = native.tree_of(graph, options.height, options.threads)
    levels = native.levels_of(tree)
    columns = {f"level_{k}": labels for k, labels in enumerate(levels, 1)}
    engine.put("searched", {"id": ids, **columns})
    names = "".join(f", s.{name} AS {name}" for name in columns)
    engine.store(
        "tree",
        f"SELECT n.id AS id, n.volume AS volume, n.degree AS degree{names} "
        "FROM labels_0_0 AS n JOIN searched AS s ON s.id = n.id",
    )
    return {"height": tree.height, "items": len(ids), "edges": graph.num_edges}


def _search_flat(engine: Engine, options: Options, contractions: int) -> Figures:
    """Store the flat clusters of the contracted graph, as labels of all nodes."""
    store_items(engine, contractions)
    tables = f"edges_{contractions}", f"labels_{contractions}_0"
    height = options.height
    if height is None:
        height = native.tree_of(native.load(engine, *tables)[0], None, options.threads).height
    last, ids = read_contracted(engine, *tables)
    labels = last.clusters(options.threads) if height > 1 else np.zeros(len(ids), np.int64)
    engine.put("searched", {"id": ids, "cluster": labels})
    engine.store(
        "flat_0",
        "SELECT n.id AS id, n.volume AS volume, n.degree AS degree, s.cluster AS cluster "
        "FROM labels_0_0 AS n JOIN items AS i ON i.id = n.id JOIN searched AS s ON s.id = i.item",
    )
    return {"height": height, "items": len(ids), "edges": len(last.ends[0])}


def _split(state: State, options: Options, flat: str, height: int, volume: int) -> str:
    """Return the query of the tree with the best split into levels inside and above."""
    engine, most = state.engine, height - 2
    above = state.run("levels above", ("above",), partial(_above, engine, options, flat, most))
    state.run(
        "units",
        ("units", "inside_edges", "inside_nodes"),
        partial(_units, engine, options.max_edges, flat),
    )
    parts = _inside_parts(state, options, most)
    inside = [sum(part[f"entropy_{b}"] for part in parts) / volume for b in range(most + 1)]
    b = min(range(most + 1), key=lambda b: (inside[b] + above[f"entropy_{most - b}"], -b))
    tables = " UNION ALL ".join(f"SELECT * FROM inside_{k}" for k in range(len(parts)))
    columns = [f"i.b{b}_{level} AS level_{level}" for level in range(1, b + 1)]
    columns.append(f"u.cluster AS level_{b + 1}")
    a = most - b
    columns += [f"a.a{a}_{level} AS level_{b + 1 + level}" for level in range(1, a + 1)]
    return (
        f"SELECT n.id AS id, n.volume AS volume, n.degree AS degree, {', '.join(columns)} "
        f"FROM {flat} AS n JOIN units AS u ON u.id = n.id JOIN above AS a ON a.id = u.cluster "
        f"JOIN ({tables}) AS i ON i.cluster = u.cluster AND i.unit = u.unit"
    )


def _above(engine: Engine, options: Options, flat: str, most: int) -> Figures:
    """Store the levels of the graph of clusters, one set of columns a number of levels."""
    engine.store("above_edges", statements.contracted_edges("edges_0", flat))
    sizes = f"SELECT cluster AS id, volume FROM ({statements.volumes(flat)}) AS s"
    engine.store("above_labels", statements.singletons(f"({sizes})", "above_edges"))
    graph, ids = native.load(engine, "above_edges", "above_labels")
    columns, figures = {"id": ids}, Figures(items=len(ids))
    for a in range(most + 1):
        tree = native.tree_of(graph, a + 1, options.threads)
        figures[f"entropy_{a}"] = tree.entropy
        for level, labels in enumerate(native.levels_of(tree), 1):
            columns[f"a{a}_{level}"] = labels
    engine.put("above", columns)
    engine.drop("above_edges", "above_labels")
    return {**figures, "edges": graph.num_edges}


def _units(engine: Engine, max_edges: int, flat: str) -> Figures:
    """Store nodes and edges inside the clusters.

    In a cluster that does not fit into memory, the nodes of the contracted graph are the units.
    """
    engine.store(
        "sizes",
        f"SELECT a.cluster AS cluster, COUNT(*) AS n FROM edges_0 AS e JOIN {flat} AS a "
        f"ON a.id = e.u JOIN {flat} AS b ON b.id = e.v WHERE {_SAME} GROUP BY a.cluster",
    )
    engine.store(
        "units",
        "SELECT n.id AS id, n.cluster AS cluster, n.volume AS volume, "
        f"CASE WHEN COALESCE(s.n, 0) > {max_edges} THEN i.item ELSE n.id END AS unit "
        f"FROM {flat} AS n JOIN items AS i ON i.id = n.id "
        "LEFT JOIN sizes AS s ON s.cluster = n.cluster",
    )
    ends = (
        "SELECT a.cluster AS cluster, LEAST(a.unit, b.unit) AS u, GREATEST(a.unit, b.unit) AS v, "
        "e.w AS w FROM edges_0 AS e JOIN units AS a ON a.id = e.u JOIN units AS b ON b.id = e.v "
        f"WHERE {_SAME} AND a.unit <> b.unit"
    )
    engine.store(
        "inside_edges",
        f"SELECT cluster, u, v, CAST(SUM(w) AS BIGINT) AS w FROM ({ends}) AS s "
        "GROUP BY cluster, u, v ORDER BY cluster",
    )
    sides = " UNION ALL ".join(
        f"SELECT cluster, {end} AS unit, w FROM inside_edges" for end in ("u", "v")
    )
    engine.store(
        "inside_nodes",
        "SELECT n.cluster AS cluster, n.unit AS unit, n.volume AS volume, COALESCE(d.w, 0) AS "
        "degree FROM (SELECT cluster, unit, CAST(SUM(volume) AS BIGINT) AS volume FROM units "
        f"GROUP BY cluster, unit) AS n LEFT JOIN (SELECT cluster, unit, CAST(SUM(w) AS BIGINT) "
        f"AS w FROM ({sides}) AS t GROUP BY cluster, unit) AS d "
        "ON d.cluster = n.cluster AND d.unit = n.unit ORDER BY cluster",
    )
    engine.drop("sizes")
    return {
        "items": engine.number("SELECT COUNT(*) FROM inside_nodes"),
        "edges": engine.number("SELECT COUNT(*) FROM inside_edges"),
    }


def _inside_parts(state: State, options: Options, most: int) -> list[Figures]:
    """Store ``inside_0``, ``inside_1``, ...: levels inside consecutive clusters."""
    sizes = state.engine.arrays(
        "SELECT n.cluster AS cluster, CAST(n.n + COALESCE(e.n, 0) AS BIGINT) AS n FROM "
        "(SELECT cluster, COUNT(*) AS n FROM inside_nodes GROUP BY cluster) AS n LEFT JOIN "
        "(SELECT cluster, COUNT(*) AS n FROM inside_edges GROUP BY cluster) AS e "
        "ON e.cluster = n.cluster ORDER BY cluster"
    )
    starts = [0] * (most * (most + 1) // 2)
    parts: list[Figures] = []
    for number, (low, high) in enumerate(_batches(sizes["cluster"], sizes["n"], options.max_edges)):
        name = f"levels inside, part {number + 1}"
        work = partial(
            _inside, state.engine, options.threads, number, (low, high), list(starts), most
        )
        parts.append(state.run(name, (f"inside_{number}",), work))
        starts = [parts[-1][f"start_{k}"] for k in range(len(starts))]
    return parts


def _batches(
    clusters: NDArray[np.int64], sizes: NDArray[np.int64], most: int
) -> list[tuple[int, int]]:
    """Return first and last clusters of batches up to a size; a large cluster is one alone."""
    batches: list[tuple[int, int]] = []
    start, total = 0, 0
    for k, size in enumerate(sizes.tolist()):
        if k > start and total + size > most:
            batches.append((int(clusters[start]), int(clusters[k - 1])))
            start, total = k, 0
        total += size
    return [*batches, (int(clusters[start]), int(clusters[-1]))]


def _inside(
    engine: Engine,
    threads: int,
    number: int,
    limits: tuple[int, int],
    starts: list[int],
    most: int,
) -> Figures:
    where = f"WHERE cluster BETWEEN {limits[0]} AND {limits[1]}"
    nodes = engine.arrays(f"SELECT * FROM inside_nodes {where} ORDER BY cluster, unit")
    edges = engine.arrays(f"SELECT * FROM inside_edges {where} ORDER BY cluster, u, v")
    result = native.insides(nodes, edges, starts, most, threads)
    columns = {"cluster": result.cluster, "unit": result.unit}
    for b, levels in enumerate(result.levels, 1):
        columns |= {f"b{b}_{level}": labels for level, labels in enumerate(levels, 1)}
    engine.put(f"inside_{number}", columns)
    figures: Figures = {f"entropy_{b}": value for b, value in enumerate(result.entropy)}
    figures |= {f"start_{k}": value for k, value in enumerate(starts)}
    return {**figures, "items": len(result.unit), "edges": len(edges["u"])}
