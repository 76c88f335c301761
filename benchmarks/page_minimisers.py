"""The section on programs that minimise structural entropy."""

from __future__ import annotations

from page import Section, Verdict, bits, columns, count, not_on, seconds, table
from results import Row

TEXT = (
    "CoDeSEG moves single nodes, with the options of its authors (-n 10 -e 0.3) and until nothing "
    "moves (-n 100 -e 0); its own clock counts, in steps of 10 ms. selib's `optimal_2d` is Python, "
    "on graphs of up to 20,000 edges. One thread, height 2, NMI where communities are planted."
)
PEERS = ("CoDeSEG", "CoDeSEG to the end", "selib")
ROUNDING = 1e-9


def minimisers(rows: list[Row]) -> Section:
    programs = columns(rows, "seconds")
    lines = []
    for row in rows:
        least = min(row["entropy"].values())
        cells = [_cell(row, name, least) for name in programs]
        lines.append([f"{row['graph']}, {count(row['edges'])} edges", *cells])
    comparison = table(["time, NMI, entropy", *programs], lines)
    return Section("Programs that minimise structural entropy", TEXT, [comparison], _verdicts(rows))


def _cell(row: Row, name: str, least: float) -> str:
    if name not in row["seconds"]:
        return ""
    parts = [seconds(row["seconds"][name]) if row["seconds"][name] else "< 10 ms"]
    if name in row["nmi"]:
        parts.append(f"{row['nmi'][name]:.3f}")
    return ", ".join([*parts, bits(row["entropy"][name], least)])


def _verdicts(rows: list[Row]) -> list[Verdict]:
    pairs = [(row, peer) for row in rows for peer in PEERS if peer in row["entropy"]]
    above = [
        f"{row['graph']} ({peer})"
        for row, peer in pairs
        if row["entropy"]["best"] > row["entropy"][peer] + ROUNDING
    ]
    text = f"{len(pairs) - len(above)} of {len(pairs)}{not_on(above)}"
    return [Verdict("`best` no higher than CoDeSEG and selib", text, not above)]
