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

    def candidates(self, number, parts):
        i, b, c = self.links(number, parts)
        own = np.zeros(len(self.cluster), np.int64)
        at_home = self.cluster[i] == b
        own[i[at_home]] = c[at_home]
        away = ~at_home
        i, b, c = i[away], b[away], c[away]
        return i, b, c, own[i]

    def move(self, i, b, gain):
        good = gain > 0
        i, b, gain = i[good], b[good], gain[good]
        order = np.lexsort((b, -gain, i))
        i, b = i[order], b[order]
        first = np.diff(i, prepend=-1) != 0
        cluster = self.cluster.copy()
        cluster[i[first]] = b[first]
        return cluster

    def grown(self, number, total, limit):
        i, b, c, own = self.candidates(number, rounds.PARTS)
        volume = self.sizes()
        rest = volume[b] - volume[self.cluster[i]] + self.volume[i]
        gain = (c - own).astype(float) * float(total) - self.volume[i].astype(float) * rest
        fits = volume[b] + self.volume[i] <= limit
        return self.move(i[fits], b[fits], gain[fits])
