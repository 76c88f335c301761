"""The rounds in NumPy, in memory: an implementation that shares no SQL with the engines."""

from __future__ import annotations

import numpy as np

from sepool.large import rounds, statements


def turns(ids, number, parts):
    base = ((ids % statements.PRIME + statements.PRIME) * 7919) % statements.PRIME
    base = (base + number * 104729 % statements.PRIME) % statements.PRIME
    return base * (base + 31) % statements.PRIME % parts == number % parts


def summed(keys, weights):
    """The distinct rows of keys and the sums of their weights."""
    rows, slot = np.unique(np.stack(keys, 1), axis=0, return_inverse=True)
    sums = np.zeros(len(rows), np.int64)
    np.add.at(sums, slot.ravel(), weights)
    return *rows.T, sums


class Tables:
    """Edges and labels of nodes 0 to n - 1."""

    def __init__(self, u, v, w, n):
        u, v = np.minimum(u, v), np.maximum(u, v)
        self.u, self.v, self.w = summed((u, v), w)
        self.degree = self.incident(self.u, self.v, self.w, n)
        self.volume, self.cluster = self.degree.copy(), np.arange(n)

    @staticmethod
    def incident(u, v, w, n):
        degree = np.zeros(n, np.int64)
        np.add.at(degree, u, w)
        np.add.at(degree, v, w)
        return degree

    def links(self, number, parts):
        ends = np.concatenate([self.u, self.v]), np.concatenate([self.v, self.u])
        mine = turns(ends[0], number, parts)
        w = np.concatenate([self.w, self.w])
        return summed((ends[0][mine], self.cluster[ends[1][mine]]), w[mine])

    def sizes(self):
        """Volume of every cluster."""
        volume = np.zeros(len(self.cluster), np.int64)
        np.add.at(volume, self.cluster, self.volume)
        return volume

    def grown(self, number, total, limit):
        """The clusters after a round, from the scores of single moves."""
        volume, cluster = self.sizes(), self.cluster.copy()
        i, b, c = self.links(number, rounds.PARTS)
        weight = {(int(x), int(y)): float(z) for x, y, z in zip(i, b, c, strict=True)}
        for node in np.unique(i):
            own, mine = int(self.cluster[node]), int(self.volume[node])
            stay = weight.get((node, own), 0.0) * float(total)
            best = stay - float(mine) * float(volume[own] - mine)
            for other in b[i == node]:
                score = weight[node, other] * float(total) - float(mine) * float(volume[other])
                if other != own and volume[other] + mine <= limit and score > best:
                    best, cluster[node] = score, other
        return cluster
