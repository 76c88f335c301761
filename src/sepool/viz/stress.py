"""Disjoint disks inside larger disks by stress majorisation, many parents at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.viz.coarse_graph import EdgeList

SPACING = 1.15  # least distance of two centres, relative to the sum of the radii
ITERATIONS = 60
MAX_SEPARATION = 240  # further iterations, while disks overlap
MAX_PAIRS = 2_000_000  # in memory at once

Points = NDArray[np.complex128]
Radii = NDArray[np.float64]
Mask = NDArray[np.bool_]
Coordinates = NDArray[np.float64]  # (groups, nodes, 2)


def pack(parent: NDArray[Any], radius: Radii, edges: EdgeList) -> tuple[Points, Radii]:
    """Return every node's offset from the centre of its parent, and the radius of every parent."""
    order = np.argsort(parent, kind="stable")
    sizes = np.bincount(parent)
    first = np.cumsum(sizes) - sizes
    column = np.empty(len(parent), np.int64)  # rank of a node among the children of its parent
    column[order] = np.arange(len(parent)) - np.repeat(first, sizes)
    offset = np.zeros(len(parent), np.complex128)
    extent = np.zeros(len(sizes))
    extent[parent] = radius  # final for an only child
    inside = parent[edges.u] == parent[edges.v]
    u, v = edges.u[inside], edges.v[inside]
    width = 2
    while width < 2 * sizes.max():
        groups = np.flatnonzero((sizes > width // 2) & (sizes <= width) & (sizes > 1))
        for batch in np.array_split(groups, 1 + len(groups) * width * width // MAX_PAIRS):
            if not len(batch):
                continue
            row = np.full(len(sizes), -1)
            row[batch] = np.arange(len(batch))
            nodes = np.flatnonzero(row[parent] >= 0)
            slots = (row[parent[nodes]], column[nodes])
            radii = np.zeros((len(batch), width))
            radii[slots] = radius[nodes]
            adjacent = np.zeros((len(batch), width, width), np.bool_)
            own = row[parent[u]] >= 0
            group, a, b = row[parent[u[own]]], column[u[own]], column[v[own]]
            adjacent[group, a, b] = adjacent[group, b, a] = True
            offsets, extent[batch] = _pack_batch(radii, adjacent)
            offset[nodes] = offsets[slots]
        width *= 2
    return offset, extent


def _pack_batch(radii: Radii, adjacent: Mask) -> tuple[Points, Radii]:
    """Pack groups of disks, a row each; disks of radius 0 are padding."""
    mask = radii > 0
    pairs = mask[:, :, None] & mask[:, None, :] & ~np.eye(radii.shape[1], dtype=np.bool_)
    contact = np.where(pairs, SPACING * (radii[:, :, None] + radii[:, None, :]), 0)
    target = _target_distances(contact, adjacent & pairs, pairs, radii)
    points = _separate(_minimise_stress(target, pairs, mask), contact)
    offset = points[..., 0] + 1j * points[..., 1]
    centre = _enclosing_centre(offset, radii, mask)
    offset = np.where(mask, offset - centre[:, None], 0)
    extent = np.where(mask, np.abs(offset) + radii, 0).max(axis=1)
    return offset, np.asarray(extent, np.float64)


def _target_distances(contact: Radii, adjacent: Mask, pairs: Mask, radii: Radii) -> Radii:
    """Return the lengths of the shortest paths, bounded by the size of the whole group."""
    target = np.where(adjacent, contact * 1.1, np.inf)
    for k in range(target.shape[1]):  # Floyd and Warshall
        np.minimum(target, target[:, :, k, None] + target[:, None, k, :], out=target)
    bound = 2.4 * np.sqrt((radii**2).sum(axis=1))[:, None, None]
    return np.where(pairs, np.minimum(target, np.maximum(contact, bound)), 0)


def _minimise_stress(target: Radii, pairs: Mask, mask: Mask) -> Coordinates:
    """Minimise the stress by damped majorisation, from classical scaling."""
    weight = np.divide(1, target**2, out=np.zeros_like(target), where=pairs)
    total = np.maximum(weight.sum(axis=2), 1e-300)[..., None]
    pull = weight * target
    points = _classical_scaling(target, mask)
    for _ in range(ITERATIONS):
        points = points + 0.7 * _forces(points, pull / _distances(points) - weight) / total
    return np.where(mask[..., None], points, 0)


def _distances(points: Coordinates) -> Radii:
    """Return the distances within every group, at least 1e-6."""
    norms = (points**2).sum(axis=2)
    squares = norms[:, :, None] + norms[:, None, :] - 2 * (points @ points.swapaxes(1, 2))
    return np.asarray(np.sqrt(np.maximum(squares, 1e-12)), np.float64)


def _forces(points: Coordinates, push: Radii) -> Coordinates:
    """Return the sum of the vectors from all other points, weighted by their push."""
    return np.asarray(points * push.sum(axis=2)[..., None] - push @ points, np.float64)


def _classical_scaling(target: Radii, mask: Mask) -> Coordinates:
    """Return coordinates by the two largest eigenvectors, plus a spiral so that no two coincide."""
    count = mask.sum(axis=1)[:, None, None]
    squares = target**2
    rows = squares.sum(axis=2, keepdims=True) / count
    gram = rows + rows.swapaxes(1, 2) - squares - rows.sum(axis=1, keepdims=True) / count
    gram = np.where(mask[:, :, None] & mask[:, None, :], gram, 0)
    values, vectors = np.linalg.eigh(gram / 2)
    vectors = vectors[:, :, -2:] * np.sqrt(np.maximum(values[:, None, -2:], 0))
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    vectors = vectors * np.where(largest < 0, -1, 1)  # the sign of an eigenvector is arbitrary
    i = np.arange(target.shape[1])
    spiral = np.sqrt(i + 0.5) * np.exp(2.399963229728653j * i)  # the golden angle
    spiral = 0.05 * target.max(axis=(1, 2))[:, None] / np.sqrt(count[:, 0]) * spiral
    return np.asarray(vectors[..., ::-1] + np.stack([spiral.real, spiral.imag], -1), np.float64)


def _separate(points: Coordinates, contact: Radii) -> Coordinates:
    """Contract the groups, push overlapping disks apart, and scale what overlap remains away."""
    for iteration in range(ITERATIONS + MAX_SEPARATION):
        distance = _distances(points)
        overlap = np.maximum(contact - distance, 0)
        num_overlaps = (overlap > 0).sum(axis=2)[..., None]
        points = points + _forces(points, overlap / distance) / (0.5 + np.maximum(num_overlaps, 1))
        if iteration < ITERATIONS:
            middle = points.mean(axis=1, keepdims=True)
            points = middle + (points - middle) * 0.97
        elif not (overlap > 0.01 * contact).any():
            break
    shortage = contact / np.maximum(_distances(points), 1e-3 * contact + 1e-12)
    scale = np.clip(shortage.max(axis=(1, 2)), 1, 1.2)
    return np.asarray(points * scale[:, None, None], np.float64)


def _enclosing_centre(offset: Points, radii: Radii, mask: Mask) -> Points:
    """Approximate the centres of the smallest enclosing disks (Badoiu and Clarkson 2003)."""
    centre = np.where(mask, offset, 0).sum(axis=1) / mask.sum(axis=1)
    rows = np.arange(len(offset))
    for step in range(1, 80):
        vector = offset - centre[:, None]
        far = np.where(mask, np.abs(vector) + radii, -1).argmax(axis=1)
        vector = vector[rows, far]
        length = np.maximum(np.abs(vector), 1e-12)
        centre = centre + vector * (1 + radii[rows, far] / length) / (step + 1)
    return np.asarray(centre, np.complex128)
