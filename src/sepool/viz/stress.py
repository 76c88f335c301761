"""Packs the children of many clusters at once: stress first, then no overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.viz.coarse import Links

GAP = 1.15  # centres stay this many times the sum of two radii apart
ROUNDS = 60
BATCH = 2_000_000  # pairs that are held at once

Places = NDArray[np.complex128]
Sizes = NDArray[np.float64]
Points = NDArray[np.float64]  # group, node, x and y


def pack(parent: NDArray[Any], radius: Sizes, links: Links) -> tuple[Places, Sizes]:
    """Where every node is from the centre of its parent, and how far every parent's disk reaches.

    Example:
        >>> links = Links(np.array([0]), np.array([1]), np.ones(1))
        >>> place, reach = pack(np.array([0, 0, 1]), np.ones(3), links)
        >>> reach.round(1)
        array([2.2, 1. ])
    """
    order = np.argsort(parent, kind="stable")
    sizes = np.bincount(parent)
    first = np.cumsum(sizes) - sizes
    slot = np.empty(len(parent), np.int64)  # which child of its parent a node is
    slot[order] = np.arange(len(parent)) - np.repeat(first, sizes)
    place = np.zeros(len(parent), np.complex128)
    reach = np.zeros(len(sizes))
    reach[parent] = radius  # right where there is one child
    inside = parent[links.u] == parent[links.v]
    u, v = links.u[inside], links.v[inside]
    width = 2
    while width < 2 * sizes.max():
        groups = np.flatnonzero((sizes > width // 2) & (sizes <= width) & (sizes > 1))
        for chunk in np.array_split(groups, 1 + len(groups) * width * width // BATCH):
            if not len(chunk):
                continue
            row = np.full(len(sizes), -1)
            row[chunk] = np.arange(len(chunk))
            nodes = np.flatnonzero(row[parent] >= 0)
            cells = (row[parent[nodes]], slot[nodes])
            radii = np.zeros((len(chunk), width))
            radii[cells] = radius[nodes]
            near = np.zeros((len(chunk), width, width), np.bool_)
            mine = row[parent[u]] >= 0
            where, a, b = row[parent[u[mine]]], slot[u[mine]], slot[v[mine]]
            near[where, a, b] = near[where, b, a] = True
            spread, reach[chunk] = _spread(radii, near)
            place[nodes] = spread[cells]
        width *= 2
    return place, reach


def _spread(radii: Sizes, near: NDArray[np.bool_]) -> tuple[Places, Sizes]:
    """A batch of groups of disks, in rows; a radius of 0 is an empty place in the row."""
    there = radii > 0
    pairs = there[:, :, None] & there[:, None, :] & ~np.eye(radii.shape[1], dtype=np.bool_)
    contact = np.where(pairs, GAP * (radii[:, :, None] + radii[:, None, :]), 0)
    wanted = _wanted(contact, near & pairs, pairs, radii)
    points = _push_apart(_majorise(wanted, pairs, there), contact)
    place = points[..., 0] + 1j * points[..., 1]
    centre = _middle(place, radii, there)
    place = np.where(there, place - centre[:, None], 0)
    return place, np.asarray(np.where(there, np.abs(place) + radii, 0).max(axis=1), np.float64)


def _wanted(
    contact: Sizes, near: NDArray[np.bool_], pairs: NDArray[np.bool_], radii: Sizes
) -> Sizes:
    """How far apart two disks should be: as their shortest path is long, if there is room."""
    wanted = np.where(near, contact * 1.1, np.inf)
    for k in range(wanted.shape[1]):
        np.minimum(wanted, wanted[:, :, k, None] + wanted[:, None, k, :], out=wanted)
    room = 2.4 * np.sqrt((radii**2).sum(axis=1))[:, None, None]
    wanted = np.minimum(wanted, np.maximum(contact, room))
    return np.where(pairs, wanted, 0)


def _majorise(wanted: Sizes, pairs: NDArray[np.bool_], there: NDArray[np.bool_]) -> Points:
    """Stress majorisation from classical scaling; all nodes of a round move at once."""
    weight = np.divide(1, wanted**2, out=np.zeros_like(wanted), where=pairs)
    total = np.maximum(weight.sum(axis=2), 1e-300)[..., None]
    pull = weight * wanted
    points = _classical(wanted, there)
    for _ in range(ROUNDS):
        points = points + 0.7 * _moves(points, pull / _lengths(points) - weight) / total
    return np.where(there[..., None], points, 0)


def _lengths(points: Points) -> Sizes:
    """The distances within every group, not quite 0 anywhere."""
    squares = (points**2).sum(axis=2)
    apart = squares[:, :, None] + squares[:, None, :] - 2 * (points @ points.swapaxes(1, 2))
    return np.asarray(np.sqrt(np.maximum(apart, 1e-12)), np.float64)


def _moves(points: Points, push: Sizes) -> Points:
    """The sum over all others of the way from them, times how much they push."""
    return np.asarray(points * push.sum(axis=2)[..., None] - push @ points, np.float64)


def _classical(wanted: Sizes, there: NDArray[np.bool_]) -> Points:
    """Places by the two largest eigenvectors, and a spiral so that no two are the same."""
    count = there.sum(axis=1)[:, None, None]
    squares = wanted**2
    both = there[:, :, None] & there[:, None, :]
    rows = squares.sum(axis=2, keepdims=True) / count
    middle = np.where(
        both,
        rows + rows.swapaxes(1, 2) - squares - rows.sum(axis=1, keepdims=True) / count,
        0,
    )
    values, vectors = np.linalg.eigh(middle / 2)
    vectors = vectors[:, :, -2:] * np.sqrt(np.maximum(values[:, None, -2:], 0))
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    vectors = vectors * np.where(largest < 0, -1, 1)  # a solver may return either sign
    i = np.arange(wanted.shape[1])
    spiral = np.sqrt(i + 0.5) * np.exp(2.399963229728653j * i)
    step = wanted.max(axis=(1, 2))[:, None] / np.sqrt(count[:, 0])
    jitter = 0.05 * step * spiral
    return np.asarray(vectors[..., ::-1] + np.stack([jitter.real, jitter.imag], -1), np.float64)


def _push_apart(points: Points, contact: Sizes) -> Points:
    """Draws the disks together and moves overlapping ones apart; the rest is scaled away."""
    for step in range(2 * ROUNDS):
        length = _lengths(points)
        lacking = np.maximum(contact - length, 0)
        over = (lacking > 0).sum(axis=2)[..., None]
        points = points + _moves(points, lacking / length) / (0.5 + np.maximum(over, 1))
        if step < ROUNDS:
            middle = points.mean(axis=1, keepdims=True)
            points = middle + (points - middle) * 0.97
        elif not (lacking > 0.01 * contact).any():
            break
    short = contact / np.maximum(_lengths(points), 1e-3 * contact + 1e-12)
    widen = np.clip(short.max(axis=(1, 2)), 1, 1.2)
    return np.asarray(points * widen[:, None, None], np.float64)


def _middle(place: Places, radii: Sizes, there: NDArray[np.bool_]) -> Places:
    """About the centre of the smallest disk around all (Badoiu and Clarkson 2003)."""
    count = there.sum(axis=1)
    centre = np.where(there, place, 0).sum(axis=1) / count
    rows = np.arange(len(place))
    for step in range(1, 80):
        way = place - centre[:, None]
        far = np.where(there, np.abs(way) + radii, -1).argmax(axis=1)
        way = way[rows, far]
        length = np.maximum(np.abs(way), 1e-12)
        centre = centre + way * (1 + radii[rows, far] / length) / (step + 1)
    return np.asarray(centre, np.complex128)
