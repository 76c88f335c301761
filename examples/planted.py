"""Hides a hierarchy in a random graph and finds it again: people in towns, towns in regions.

Nobody tells sepool how many towns or regions there are, only how many levels to look for.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import sepool

REGIONS, TOWNS, PEOPLE = 10, 20, 50  # in all, in a region, in a town
FRIENDS = 16  # a person, on average
SHARES = (0.05, 0.15, 0.80)  # of the friends: anywhere, in the region, in the town


def main() -> None:
    num_people = REGIONS * TOWNS * PEOPLE
    person = np.arange(num_people)
    town, region = person // PEOPLE, person // (TOWNS * PEOPLE)
    friends = friendships(np.random.default_rng(0), num_people)
    graph = sepool.as_graph(friends, num_nodes=num_people)
    print(f"{num_people:,} people in {REGIONS * TOWNS} towns in {REGIONS} regions, ", end="")
    print(f"{graph.num_edges:,} pairs of friends")

    start = perf_counter()
    tree = sepool.coding_tree(graph, height=4)
    print(f"{tree} in {perf_counter() - start:.2f} s")
    for name, planted, level in (("regions", region, 3), ("towns", town, 2)):
        found = matches(planted, tree.labels(level))
        count = tree.num_clusters(level)
        print(f"level {level}: {count} clusters; {found} of {planted[-1] + 1} {name} found exactly")


def friendships(rng: np.random.Generator, num_people: int) -> NDArray[np.int64]:
    """Pairs of people; the second is drawn from the whole country, the region or the town."""
    num_pairs = num_people * FRIENDS // 2
    one = rng.integers(num_people, size=num_pairs)
    width = rng.choice([num_people, TOWNS * PEOPLE, PEOPLE], num_pairs, p=SHARES)
    return np.column_stack([one, one // width * width + rng.integers(width)])


def matches(planted: NDArray[np.int64], found: NDArray[np.int32]) -> int:
    """How many planted groups are a cluster, with nobody missing and nobody else in it."""
    pairs = np.unique(np.column_stack([planted, found]), axis=0)
    whole, pure = np.bincount(pairs[:, 0]) == 1, np.bincount(pairs[:, 1]) == 1
    return int((whole[pairs[:, 0]] & pure[pairs[:, 1]]).sum())


if __name__ == "__main__":
    main()
