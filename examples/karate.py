"""Coding trees of the karate club: all methods and heights, a table and a picture.

Zachary's club of 34 members split in two; the graph is part of networkx. Run with

    python examples/karate.py --picture karate.png
"""

from __future__ import annotations

import argparse
from time import perf_counter

import networkx as nx
import numpy as np

import sepool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--picture", metavar="FILE", help="draw the tree of height 4 into this file"
    )
    show(parser.parse_args().picture)


def show(picture: str | None) -> None:
    """Print the table; draw the picture if a file is named."""
    club = nx.karate_club_graph()
    flat = sepool.one_dimensional_entropy(club)
    print(f"{club.name}: {len(club)} members, {club.size()} ties, {flat:.4f} bits unclustered\n")
    row = "{:>6}  {:<6}  {:>6}  {:>5}  {:>5}  {}".format
    print(row("height", "method", "bits", "saved", "ms", "nodes on every level, root first"))
    for height in (2, 3, 4):
        for method in ("paper", "fast", "best"):
            start = perf_counter()
            tree = sepool.coding_tree(club, height, method=method)
            duration = f"{(perf_counter() - start) * 1e3:.2f}"
            saved = f"{1 - tree.entropy / flat:.0%}"
            levels = " < ".join(map(str, reversed(tree.counts)))
            print(row(height, method, f"{tree.entropy:.4f}", saved, duration, levels))

    tree = sepool.coding_tree(club, height=4)
    print(f"\n{tree}\n{compare_split(club, tree)}")
    if picture:
        try:
            from picture import draw
        except ModuleNotFoundError as error:
            print(f"no picture: {error.name} is missing (pip install matplotlib)")
        else:
            draw(club, tree, picture)
            print(f"wrote {picture}")


def compare_split(club: nx.Graph, tree: sepool.CodingTree) -> str:
    """Return the agreement of the coarsest clusters with the split of the club, in a sentence."""
    labels = tree.labels(tree.height - 1)
    clubs, split = np.unique([club.nodes[member]["club"] for member in club], return_inverse=True)
    # A cluster predicts the club of most of its members.
    correct = sum(np.bincount(split[labels == c]).max() for c in np.unique(labels))
    return (
        f"Its {labels.max() + 1} coarsest clusters predict for {correct} of {len(club)} members "
        f"their club after the split ({' or '.join(clubs)})."
    )


if __name__ == "__main__":
    main()
