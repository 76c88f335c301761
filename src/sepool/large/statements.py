"""The statements of a round, for every engine.

Tables: ``edges(u, v, w)`` with u < v, ``labels(id, volume, degree, cluster)`` of its nodes, where
``degree`` is the part of the volume that is due to ``edges``. Weights are whole numbers, so that
sums do not depend on their order.
"""

from __future__ import annotations

from sepool.large.log2 import Apart, double, with_log2

PRIME = 1_000_003
COST_UNIT = 65536.0  # costs are whole multiples of 1 / 65536, so that their sum is exact
_LEAST_GAIN = 0.01  # weight times bits; smaller gains are rounding


def turn(column: str, number: int, parts: int) -> str:
    """Return the condition for the nodes whose turn it is: a share by a hash of number and id."""
    base = f"((({column} % {PRIME}) + {PRIME}) * 7919 + {number * 104729 % PRIME}) % {PRIME}"
    return f"(({base}) * (({base}) + 31)) % {PRIME} % {parts} = {number % parts}"


def links(edges: str, labels: str, number: int, parts: int) -> str:
    """Return the weight between every node that may move and every cluster next to it."""
    sides = " UNION ALL ".join(
        f"SELECT e.{one} AS id, e.w AS w, b.cluster AS cluster FROM {edges} AS e "
        f"JOIN {labels} AS b ON b.id = e.{other} WHERE {turn(f'e.{one}', number, parts)}"
        for one, other in (("u", "v"), ("v", "u"))
    )
    return (
        f"SELECT id, cluster, CAST(SUM(w) AS BIGINT) AS c FROM ({sides}) AS s GROUP BY id, cluster"
    )


def volumes(labels: str) -> str:
    """Return the volume of every cluster."""
    return f"SELECT cluster, CAST(SUM(volume) AS BIGINT) AS volume FROM {labels} GROUP BY cluster"


def clusters(edges: str, labels: str, apart: Apart) -> str:
    """Return the volume, boundary and logarithm of the volume of every cluster."""
    inner = (
        f"SELECT a.cluster AS cluster, CAST(SUM(e.w) AS BIGINT) AS w FROM {edges} AS e "
        f"JOIN {labels} AS a ON a.id = e.u JOIN {labels} AS b ON b.id = e.v "
        "WHERE a.cluster = b.cluster GROUP BY a.cluster"
    )
    total = (
        "SELECT cluster, CAST(SUM(volume) AS BIGINT) AS volume, "
        f"CAST(SUM(degree) AS BIGINT) AS degree FROM {labels} GROUP BY cluster"
    )
    query = (
        "SELECT t.cluster AS cluster, t.volume AS volume, "
        f"t.degree - 2 * COALESCE(i.w, 0) AS boundary FROM ({total}) AS t "
        f"LEFT JOIN ({inner}) AS i ON i.cluster = t.cluster"
    )
    return with_log2(query, ("cluster", "volume", "boundary"), {"log_volume": "volume"}, apart)


def cost(clusters: str, total_log: float) -> str:
    """Return the sum over clusters of boundary times log(V / volume), in units of `COST_UNIT`."""
    term = f"CAST(boundary AS DOUBLE) * ({double(total_log)} - log_volume) * {double(COST_UNIT)}"
    return f"SELECT CAST(SUM(CAST(FLOOR({term}) AS BIGINT)) AS BIGINT) AS cost FROM {clusters}"


def joined(links: str, labels: str, clusters: str, extra: tuple[str, ...] = ()) -> str:
    """Return the candidates: every link to another cluster with both clusters and the own link."""
    more = "".join(f", a.{name} AS {name}_a, b.{name} AS {name}_b" for name in extra)
    return (
        "SELECT k.id AS id, k.cluster AS cluster, k.c AS c, COALESCE(o.c, 0) AS own, "
        "n.volume AS volume, n.degree AS degree, a.volume AS volume_a, b.volume AS volume_b"
        f"{more} FROM {links} AS k JOIN {labels} AS n ON n.id = k.id "
        f"LEFT JOIN {links} AS o ON o.id = n.id AND o.cluster = n.cluster "
        f"JOIN {clusters} AS a ON a.cluster = n.cluster "
        f"JOIN {clusters} AS b ON b.cluster = k.cluster WHERE k.cluster <> n.cluster"
    )


def growth_gains(links: str, labels: str, clusters: str, total: int, limit: int) -> str:
    """Return the gains of moves that grow clusters up to a volume.

    The gain is weight minus the weight expected between the volumes, times the total volume.
    """
    gain = (
        f"CAST(c - own AS DOUBLE) * {double(float(total))} - "
        "CAST(volume AS DOUBLE) * CAST(volume_b - volume_a + volume AS DOUBLE)"
    )
    query = (
        f"SELECT id, cluster, {gain} AS gain FROM ({joined(links, labels, clusters)}) AS j "
        f"WHERE volume_b + volume <= {limit}"
    )
    return f"SELECT id, cluster, gain FROM ({query}) AS g WHERE gain > {double(0.0)}"


def entropy_gains(links: str, labels: str, clusters: str, total_log: float, apart: Apart) -> str:
    """Return the gains of moves that lower the entropy of height 2, in weight times bits."""
    extra = ("boundary", "log_volume")
    columns = ("id", "cluster", "c", "own", "degree", "boundary_a", "boundary_b")
    query = with_log2(
        joined(links, labels, clusters, extra),
        (*columns, "log_volume_a", "log_volume_b"),
        {"log_rest": "volume_a - volume", "log_sum": "volume_b + volume"},
        apart,
    )
    log = double(total_log)
    gain = (
        f"(CAST(boundary_a AS DOUBLE) * ({log} - log_volume_a) "
        f"+ CAST(boundary_b AS DOUBLE) * ({log} - log_volume_b)) "
        f"- (CAST(boundary_a - degree + 2 * own AS DOUBLE) * ({log} - log_rest) "
        f"+ CAST(boundary_b + degree - 2 * c AS DOUBLE) * ({log} - log_sum))"
    )
    query = f"SELECT id, cluster, {gain} AS gain FROM ({query}) AS l"
    return f"SELECT id, cluster, gain FROM ({query}) AS g WHERE gain > {double(_LEAST_GAIN)}"


def choices(gains: str) -> str:
    """Return the cluster of the best gain of every node; of equal gains the smallest id."""
    return (
        f"SELECT g.id AS id, MIN(g.cluster) AS cluster FROM {gains} AS g JOIN "
        f"(SELECT id, MAX(gain) AS gain FROM {gains} GROUP BY id) AS m "
        "ON m.id = g.id AND m.gain = g.gain GROUP BY g.id"
    )


def moved(labels: str, choices: str) -> str:
    """Return the labels after all moves."""
    return (
        "SELECT n.id AS id, n.volume AS volume, n.degree AS degree, "
        f"COALESCE(m.cluster, n.cluster) AS cluster FROM {labels} AS n "
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
