"""Recovery of a planted hierarchy: people in towns, towns in regions.

The search is given the number of levels, not the numbers of towns and regions.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import sepool

REGIONS, TOWNS, PEOPLE = 10, 20, 50  # total, per region, per town
FRIENDS = 16  # of a person, on average
SHARES = (0.05, 0.15, 0.80)  # of friends: anywhere, in the region, in the town


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
    for name, groups, level in (("regions", region, 3), ("towns", town, 2)):
        exact = count_exact(groups, tree.labels(level))
        count = tree.num_clusters(level)
        print(
            f"level {level}: {count} clusters; {exact} of {groups[-1] + 1} {name} recovered exactly"
        )


def friendships(rng: np.random.Generator, num_people: int) -> NDArray[np.int64]:
    """Return pairs of people, the second drawn from everyone, the region or the town."""
    num_pairs = num_people * FRIENDS // 2
    one = rng.integers(num_people, size=num_pairs)
    width = rng.choice([num_people, TOWNS * PEOPLE, PEOPLE], num_pairs, p=SHARES)
    return np.column_stack([one, one // width * width + rng.integers(width)])


def count_exact(groups: NDArray[np.int64], labels: NDArray[np.int32]) -> int:
    """Return the number of groups that equal a cluster."""
    pairs = np.unique(np.column_stack([groups, labels]), axis=0)
    whole, pure = np.bincount(pairs[:, 0]) == 1, np.bincount(pairs[:, 1]) == 1
    return int((whole[pairs[:, 0]] & pure[pairs[:, 1]]).sum())


if __name__ == "__main__":
    main()
