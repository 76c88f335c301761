"""The statements of a round, for every engine.

Tables: ``edges(u, v, w)`` with u < v, ``labels(id, volume, degree, cluster)`` of its nodes, where
``degree`` is the part of the volume that is due to ``edges``. Weights are whole numbers, so that
sums do not depend on their order.
"""

from __future__ import annotations

PRIME = 1_000_003
OWN = 2**62  # the rank of a node's own cluster; ids are smaller


def double(value: float) -> str:
    """Return a literal that is a double on every engine; without exponent Spark reads a decimal."""
    return f"{value:.17e}"


def hashed(column: str, number: int) -> str:
    """Return a hash of an id and a number, below `PRIME`."""
    base = f"((({column} % {PRIME}) + {PRIME}) * 7919 + {number * 104729 % PRIME}) % {PRIME}"
    return f"(({base}) * (({base}) + 31)) % {PRIME}"


def turn(column: str, number: int, parts: int) -> str:
    """Return the condition for the nodes whose turn it is: a share by a hash of number and id."""
    return f"{hashed(column, number)} % {parts} = {number % parts}"


def links(edges: str, labels: str, number: int, parts: int) -> str:
    """Return the weight between every node that may move and its own and all adjacent clusters."""
    sides = " UNION ALL ".join(
        f"SELECT e.{one} AS id, e.w AS w, b.cluster AS cluster FROM {edges} AS e "
        f"JOIN {labels} AS b ON b.id = e.{other} WHERE {turn(f'e.{one}', number, parts)}"
        for one, other in (("u", "v"), ("v", "u"))
    )
    own = f"SELECT id, 0 AS w, cluster FROM {labels} WHERE {turn('id', number, parts)}"
    return (
        "SELECT id, cluster, CAST(SUM(w) AS BIGINT) AS c "
        f"FROM ({sides} UNION ALL {own}) AS s GROUP BY id, cluster"
    )


def volumes(labels: str) -> str:
    """Return the volume of every cluster."""
    return f"SELECT cluster, CAST(SUM(volume) AS BIGINT) AS volume FROM {labels} GROUP BY cluster"


def scores(links: str, labels: str, sizes: str, total: int, limit: int) -> str:
    """Return the score of every node in its own and in all adjacent clusters up to a volume.

    The score is weight minus the weight expected between the volumes, times the total volume. Of
    equal scores the larger ``rank`` wins: that of the own cluster, then of the smallest id.
    """
    own = "k.cluster = n.cluster"
    rest = f"CASE WHEN {own} THEN b.volume - n.volume ELSE b.volume END"
    score = (
        f"CAST(k.c AS DOUBLE) * {double(float(total))} - "
        f"CAST(n.volume AS DOUBLE) * CAST({rest} AS DOUBLE)"
    )
    return (
        f"SELECT k.id AS id, {score} AS score, CASE WHEN {own} THEN {OWN} ELSE -k.cluster END "
        f"AS rank FROM ({links}) AS k JOIN {labels} AS n ON n.id = k.id "
        f"JOIN {sizes} AS b ON b.cluster = k.cluster "
        f"WHERE {own} OR b.volume + n.volume <= {limit}"
    )


def choices(scores: str, best: str) -> str:
    """Return the cluster of the best score of every node that leaves its own.

    Args:
        scores: query of `scores`.
        best: the aggregate of the rank of the largest score, by the engine.
    """
    query = f"SELECT id, {best} AS rank FROM ({scores}) AS g GROUP BY id"
    return f"SELECT id, -rank AS cluster FROM ({query}) AS m WHERE rank <> {OWN}"


def moved(labels: str, choices: str, extra: tuple[str, ...] = ()) -> str:
    """Return the labels after all moves, with further columns."""
    more = "".join(f", n.{name} AS {name}" for name in extra)
    return (
        "SELECT n.id AS id, n.volume AS volume, n.degree AS degree, "
        f"COALESCE(m.cluster, n.cluster) AS cluster{more} FROM {labels} AS n "
        f"LEFT JOIN {choices} AS m ON m.id = n.id"
    )


def contracted_edges(edges: str, labels: str) -> str:
    """Return the edges between clusters, their weights summed."""
    ends = (
        "SELECT LEAST(a.cluster, b.cluster) AS u, GREATEST(a.cluster, b.cluster) AS v, e.w AS w "
        f"FROM {edges} AS e JOIN {labels} AS a ON a.id = e.u JOIN {labels} AS b ON b.id = e.v "
        "WHERE a.cluster <> b.cluster"
    )
    return f"SELECT u, v, CAST(SUM(w) AS BIGINT) AS w FROM ({ends}) AS s GROUP BY u, v"


def singletons(volumes: str, edges: str) -> str:
    """Return labels by which every node of a graph is a cluster; ``volumes(id, volume)``."""
    return (
        "SELECT n.id AS id, n.volume AS volume, COALESCE(d.w, 0) AS degree, n.id AS cluster "
        f"FROM {volumes} AS n LEFT JOIN ({degrees(edges)}) AS d ON d.id = n.id"
    )


def degrees(edges: str) -> str:
    """Return the weight of the edges at every node that has any."""
    ends = f"SELECT u AS id, w FROM {edges} UNION ALL SELECT v AS id, w FROM {edges}"
    return f"SELECT id, CAST(SUM(w) AS BIGINT) AS w FROM ({ends}) AS s GROUP BY id"


def joined_edges(edges: str, labels: str) -> str:
    """Return the edges with the clusters ``a`` and ``b`` of their ends."""
    return (
        f"SELECT e.u AS u, e.v AS v, e.w AS w, a.cluster AS a, b.cluster AS b FROM {edges} AS e "
        f"JOIN {labels} AS a ON a.id = e.u JOIN {labels} AS b ON b.id = e.v"
    )


def cluster_sizes(joined: str, labels: str) -> str:
    """Return nodes, volume, weight inside and number of edges at every cluster, sorted."""
    ends = (
        "SELECT a AS cluster, COUNT(*) AS n, SUM(CASE WHEN a = b THEN w ELSE 0 END) AS w "
        f"FROM {joined} GROUP BY a UNION ALL "
        f"SELECT b AS cluster, COUNT(*) AS n, 0 AS w FROM {joined} WHERE a <> b GROUP BY b"
    )
    return (
        "SELECT n.cluster AS cluster, n.nodes AS nodes, n.volume AS volume, "
        "CAST(COALESCE(e.w, 0) AS BIGINT) AS inner, CAST(COALESCE(e.n, 0) AS BIGINT) AS ends FROM "
        "(SELECT cluster, COUNT(*) AS nodes, CAST(SUM(volume) AS BIGINT) AS volume "
        f"FROM {labels} GROUP BY cluster) AS n LEFT JOIN "
        f"(SELECT cluster, SUM(n) AS n, SUM(w) AS w FROM ({ends}) AS s GROUP BY cluster) AS e "
        "ON e.cluster = n.cluster ORDER BY cluster"
    )


def _batch(node: str, plan: str) -> str:
    """Return the batch of a node of a cluster, which several batches may share."""
    spread = hashed(node, 0)
    return (
        f"CAST(CASE WHEN {plan}.pieces = 1 THEN {plan}.batch "
        f"ELSE {plan}.batch + {spread} % {plan}.pieces END AS INTEGER)"
    )


def batch_labels(labels: str, plan: str) -> str:
    """Return the labels with the batch of every node."""
    return (
        "SELECT n.id AS id, n.volume AS volume, n.degree AS degree, n.cluster AS cluster, "
        f"{_batch('n.id', 'p')} AS batch FROM {labels} AS n JOIN {plan} AS p "
        "ON p.cluster = n.cluster"
    )


def batch_edges(joined: str, plan: str) -> str:
    """Return the edges with the batches ``a`` and ``b`` of their ends."""
    return (
        f"SELECT j.u AS u, j.v AS v, j.w AS w, {_batch('j.u', 'p')} AS a, "
        f"{_batch('j.v', 'q')} AS b FROM {joined} AS j JOIN {plan} AS p ON p.cluster = j.a "
        f"JOIN {plan} AS q ON q.cluster = j.b"
    )


def inside(batch: int) -> str:
    """Return the edges inside a batch, of the table ``ends``."""
    return f"SELECT u, v, w FROM ends WHERE a = {batch} AND b = {batch}"


def across(labels: str, batch: int) -> str:
    """Return the weight between every node of a batch and every cluster of other nodes."""
    sides = " UNION ALL ".join(
        f"SELECT e.{one} AS id, n.cluster AS cluster, e.w AS w FROM ends AS e JOIN {labels} AS n "
        f"ON n.id = e.{other} WHERE e.{here} = {batch} AND e.{away} <> {batch}"
        for one, other, here, away in (("u", "v", "a", "b"), ("v", "u", "b", "a"))
    )
    return (
        f"SELECT id, cluster, CAST(SUM(w) AS BIGINT) AS w FROM ({sides}) AS s GROUP BY id, cluster"
    )
