"""Rounds of moves and contractions until the graph fits into memory."""

from __future__ import annotations

from functools import partial

from sepool.large import statements
from sepool.large.engine import Engine
from sepool.large.options import BYTES_PER_EDGE, Options
from sepool.large.state import State

ROUNDS, PARTS = 4, 2  # rounds of moves before a contraction; a share of the nodes moves in each
GROWTH = 40  # volume of a cluster before its contraction, in mean volumes of its items
_STALLED, _SETTLED = 0.95, 0.01


def coarsen(state: State, options: Options, counts: dict[str, int]) -> int:
    """Contract the graph until it fits into memory; return the number of contractions.

    The last graph is ``edges_l``, ``labels_l_0`` where l is that number, and ``map_l(id, cluster)``
    leads from one graph to the next.
    """
    level, growth, total, spread = 0, GROWTH, counts["volume"], 1
    edges, items = counts["edges"], counts["items"]
    while edges > options.max_edges:
        limit = growth * total // max(items, 1)
        last = _grow(state, level, items, edges, (spread * total, limit))
        name = f"level {level + 1}, contraction"
        tables = (f"map_{level}", f"edges_{level + 1}", f"labels_{level + 1}_0")
        figures = state.run(name, tables, partial(_contract, state.engine, level, last))
        if figures["edges"] > _STALLED * edges:
            if limit >= total:
                spread *= 8  # expect less weight between clusters: they grow further
            if spread > total:
                raise ValueError(
                    f"the graph does not contract below {figures['edges']:,} edges; pass memory="
                    f"'{figures['edges'] * BYTES_PER_EDGE // 10**6 + 1}MB' or more"
                )
            growth *= 8
        edges, items, level = figures["edges"], figures["items"], level + 1
    return level


def _grow(state: State, level: int, items: int, edges: int, sizes: tuple[int, int]) -> int:
    """Move nodes between clusters, from single ones, until they settle."""
    for number in range(ROUNDS):
        before, after = f"labels_{level}_{number}", f"labels_{level}_{number + 1}"
        work = partial(_move, state.engine, level, number, sizes, {"items": items, "edges": edges})
        figures = state.run(f"level {level + 1}, moves {number + 1}", (after,), work)
        if number:
            state.engine.drop(before)
        if figures["changed"] < _SETTLED * items:
            return number + 1
    return ROUNDS


def _move(
    engine: Engine, level: int, number: int, sizes: tuple[int, int], counts: dict[str, int]
) -> dict[str, int]:
    edges, before, after = (f"edges_{level}", *(f"labels_{level}_{number + k}" for k in (0, 1)))
    chance = level * ROUNDS + number  # other nodes than on the level before have their turn
    engine.hold("sizes", statements.volumes(before))
    links = statements.links(edges, before, chance, PARTS)
    scores = statements.scores(links, before, "sizes", *sizes)
    engine.hold("choices", statements.choices(scores, engine.best))
    engine.store(after, statements.moved(before, "choices"))
    changed = engine.number("SELECT COUNT(*) FROM choices")
    engine.drop("sizes", "choices")
    return {**counts, "changed": changed}


def _contract(engine: Engine, level: int, last: int) -> dict[str, int]:
    labels, edges, above = f"labels_{level}_{last}", f"edges_{level}", f"edges_{level + 1}"
    engine.store(f"map_{level}", f"SELECT id, cluster FROM {labels}")
    engine.store(above, statements.contracted_edges(edges, labels))
    sizes = f"SELECT cluster AS id, volume FROM ({statements.volumes(labels)}) AS s"
    engine.store(f"labels_{level + 1}_0", statements.singletons(f"({sizes})", above))
    return {
        "items": engine.number(f"SELECT COUNT(*) FROM labels_{level + 1}_0"),
        "edges": engine.number(f"SELECT COUNT(*) FROM {above}"),
    }


def store_items(engine: Engine, level: int) -> None:
    """Store ``items(id, item)``: the node of the last graph that every node has become."""
    joins = " ".join(f"JOIN map_{k} AS m{k} ON m{k}.id = m{k - 1}.cluster" for k in range(1, level))
    query = f"SELECT m0.id AS id, m{level - 1}.cluster AS item FROM map_0 AS m0 {joins}"
    engine.store("items", query)
