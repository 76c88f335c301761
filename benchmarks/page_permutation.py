"""The section of the page about the order of nodes with features."""

from __future__ import annotations

from page import Section, Verdict, seconds, table
from results import Row

TIES = ("features", "structure")
SLOWER = 1.10


def permutation(rows: list[Row]) -> Section:
    parts = {"logits": _logits, "time": _time}
    return Section.of_parts("Same graph and features, other node order", TEXT, rows, parts)


def _logits(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines = []
    for row in rows:
        cells = [f"{row['changed'][t]:,} ({_share(row['largest'][t])})" for t in TIES]
        lines.append([row["graph"], row["features"], f"{row['graphs']:,}", *cells])
    changed = sum(row["changed"]["features"] for row in rows)
    verdict = Verdict(
        "logits of SEP-G independent of the order of the nodes, ties broken by features",
        f"{changed} graphs change in {len(rows)} sets of features",
        changed == 0,
    )
    return table(["logits that change", "features", "graphs", *TIES], lines), [verdict]


def _time(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, verdicts = [], []
    for row in rows:
        spent = row["processor"]
        ratio = spent["features"] / spent["structure"]
        cells = [*(seconds(spent[ties]) for ties in TIES), f"{ratio:.3f}x"]
        lines.append([row["graph"], f"{row['graphs']:,}", *cells])
        target = f"{row['graph']}: trees with ties broken by features at most {SLOWER} times slower"
        verdicts.append(Verdict(target, f"{ratio:.3f}x", ratio <= SLOWER))
    header = ["`best`, height 3, processor time", "graphs", *TIES, "ratio"]
    return table(header, lines), verdicts


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value > 1e-4 else f"{value:.0e}"


TEXT = """\
Proposition 2 of the paper with features: nodes and edges are permuted five times, features go \
with them, trees are built anew (`AddCodingTree(3, ties=...)`), and an untrained SEP-G in double \
precision reads them. The table counts the graphs whose logits change by more than 1e-4 of their \
size (of 1 where they are smaller), with the largest change in brackets. Processor time is the \
least of several runs that take turns, one thread, from a dataset in memory to the same dataset \
with trees."""
