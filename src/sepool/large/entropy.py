"""Structural entropy of a table of labels, in SQL."""

from __future__ import annotations

from sepool.large.engine import Engine


def structural_entropy(engine: Engine, edges: str, labels: str, height: int) -> float:
    """Return the entropy of the tree in a table ``labels(id, volume, degree, level_1, ...)``.

    The sum over all tree nodes but the root of ``g / V log2(p / v)``, as
    `sepool.structural_entropy`; no decision depends on its last bits.
    """
    total = engine.number(f"SELECT SUM(volume) FROM {labels}")
    if not total:
        return 0.0
    names = ["id", *(f"level_{level}" for level in range(1, height))]
    value = 0.0
    for name, above in zip(names, [*names[1:], None], strict=True):
        value += _level(engine, edges, labels, name, above, total)
    return value / total


def _level(
    engine: Engine, edges: str, labels: str, name: str, above: str | None, total: int
) -> float:
    """Return the terms of the tree nodes of one level."""
    boundary = "SUM(n.degree)"
    pairs = (  # an equality in WHERE would join all pairs of nodes of a cluster
        f"SELECT a.{name} AS t, CASE WHEN a.{name} = b.{name} THEN e.w ELSE 0 END AS w "
        f"FROM {edges} AS e JOIN {labels} AS a ON a.id = e.u JOIN {labels} AS b ON b.id = e.v"
    )
    inner = f"SELECT t, SUM(w) AS w FROM ({pairs}) AS j GROUP BY t"
    parent = "MIN(n.id)" if above is None else f"MIN(n.{above})"
    nodes = (
        f"SELECT n.{name} AS t, {parent} AS p, SUM(n.volume) AS volume, {boundary} AS g "
        f"FROM {labels} AS n GROUP BY n.{name}"
    )
    if above is None:
        volume, join = f"CAST({total} AS DOUBLE)", ""
    else:
        volume = "CAST(p.volume AS DOUBLE)"
        join = (
            f"JOIN (SELECT {above} AS t, SUM(volume) AS volume FROM {labels} GROUP BY {above}) "
            "AS p ON p.t = c.p "
        )
    term = f"CAST(c.g - 2 * COALESCE(i.w, 0) AS DOUBLE) * LOG2({volume} / c.volume)"
    rows = engine.rows(
        f"SELECT SUM({term}) FROM ({nodes}) AS c {join}LEFT JOIN ({inner}) AS i ON i.t = c.t "
        "WHERE c.volume > 0"
    )
    return float(rows[0][0] or 0.0)
