"""The result of a search over tables, and the report of one round."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """One completed step of a run.

    Attributes:
        step: name of the step, as in the manifest of the folder.
        items: nodes or clusters that the step worked on, or left.
        edges: edges of the graph that the step worked on, or left.
        changed: number of items that changed their cluster.
        seconds: duration of the step.
        spilled: largest number of bytes on disk for intermediate results.
    """

    step: str
    items: int
    edges: int
    changed: int
    seconds: float
    spilled: int

    def __str__(self) -> str:
        """Return the line for a terminal."""
        text = f"{self.step}: {self.items:,} nodes"
        text += f", {self.edges:,} edges left" if self.edges else ""
        text += f", {self.changed:,} moved" if self.changed else ""
        return f"{text}, {self.seconds:.1f} s, {self.spilled / 1e6:.1f} MB spilled"


@dataclass(frozen=True)
class LargeTree:
    """A coding tree in a table of labels.

    Attributes:
        height: level of the root; ``output`` has the levels 1 to ``height - 1``.
        counts: number of tree nodes on each level, level 0 first, the root last.
        entropy: structural entropy of the graph on the tree, in bits.
        rounds: number of rounds in SQL: moves and contractions.
        edges: number of pairs of nodes that share an edge.
        self_loops: number of rows from a node to itself, which are dropped.
        repeated: number of rows whose pair is listed before, in any direction; weights add up.
        output: path of the labels: node, level_1, level_2, ...
        folder: folder of the intermediate tables; None where it was temporary.
    """

    height: int
    counts: tuple[int, ...]
    entropy: float
    rounds: int
    edges: int
    self_loops: int
    repeated: int
    output: str
    folder: str | None
