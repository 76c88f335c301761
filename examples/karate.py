"""The hierarchy of a karate club: coding trees by every method, a table and a picture.

Zachary's club of 34 members fell apart in two; networkx brings the graph along. Run with

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
    """Prints the table, and draws the picture into this file, if there is one."""
    club = nx.karate_club_graph()
    flat = sepool.one_dimensional_entropy(club)
    print(f"{club.name}: {len(club)} members, {club.size()} ties, {flat:.4f} bits unclustered\n")
    row = "{:>6}  {:<6}  {:>6}  {:>5}  {:>5}  {}".format
    print(row("height", "method", "bits", "saved", "ms", "nodes on every level, root first"))
    for height in (2, 3, 4):
        for method in ("paper", "fast", "best"):
            start = perf_counter()
            tree = sepool.coding_tree(club, height, method=method)
            spent = f"{(perf_counter() - start) * 1e3:.2f}"
            saved = f"{1 - tree.entropy / flat:.0%}"
            levels = " < ".join(map(str, reversed(tree.counts)))
            print(row(height, method, f"{tree.entropy:.4f}", saved, spent, levels))

    tree = sepool.coding_tree(club, height=4)
    print(f"\n{tree}\n{describe_split(club, tree)}")
    if picture:
        try:
            from picture import draw
        except ModuleNotFoundError as error:
            print(f"no picture: {error.name} is missing (pip install matplotlib)")
        else:
            draw(club, tree, picture)
            print(f"wrote {picture}")


def describe_split(club: nx.Graph, tree: sepool.CodingTree) -> str:
    """How the coarsest clusters compare with the two clubs that came of the one."""
    found = tree.labels(tree.height - 1)
    clubs, real = np.unique([club.nodes[member]["club"] for member in club], return_inverse=True)
    # Each cluster stands for the club that most of its members went to.
    right = sum(np.bincount(real[found == c]).max() for c in np.unique(found))
    return (
        f"Its {found.max() + 1} coarsest clusters tell for {right} of {len(club)} members "
        f"which club they went to ({' or '.join(clubs)})."
    )


if __name__ == "__main__":
    main()
