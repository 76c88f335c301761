"""The section on communities of large graphs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import log
from statistics import mean

from page import Section, Verdict, bits, columns, count, not_on, seconds, table, times
from results import Row

TEXT = (
    "Time on one thread, NMI with the planted communities, and the structural entropy of "
    "the clusters at height 2. All programs run with their defaults, Infomap with two levels and "
    "one trial; the graph objects are built before the clock starts."
)
MODULARITY = ("PLM", "ParallelLeiden", "Leiden")
ROUNDING = 1e-9


def communities(rows: list[Row]) -> Section:
    parts: dict[str, Callable[[list[Row]], tuple[list[str], list[Verdict]]]] = {
        "lfr": _lfr,
        "families": _families,
        "knn": _knn,
        "planted": _planted,
        "heights": _heights,
        "blocks": _blocks,
        "threads": _threads,
        "growth": _growth,
    }
    tables, verdicts = [], []
    for part, make in parts.items():
        if group := [row for row in rows if row["part"] == part]:
            made, found = make(group)
            tables += made
            verdicts += found
    return Section("Communities of large graphs", TEXT, tables, verdicts)


def _name(row: Row) -> str:
    return f"{row['graph']}, {count(row['edges'])} edges"


def _comparison(rows: list[Row], *, agreement: bool) -> str:
    programs = columns(rows, "seconds")
    lines = []
    for row in rows:
        least = min(row["entropy"].values())
        cells = []
        for name in programs:
            if name not in row["seconds"]:
                cells.append("")
                continue
            nmi = f"{row['nmi'][name]:.3f}, " if agreement else ""
            bit = bits(row["entropy"][name], least)
            cells.append(f"{seconds(row['seconds'][name])}, {nmi}{bit}")
        lines.append([_name(row), *cells])
    what = "time, NMI, entropy" if agreement else "time, entropy"
    return table([what, *programs], lines)


def _ratio(row: Row, peer: str, program: str = "best") -> float:
    return row["seconds"][program] / row["seconds"][peer]


def _slowest(
    rows: list[Row], peer: str, most: float, target: str, program: str = "best"
) -> Verdict:
    ratios = [(_ratio(row, peer, program), _name(row)) for row in rows]
    worst, where = max(ratios)
    return Verdict(target, f"{worst:.2f} at most ({where})", worst <= most)


def _lower(rows: list[Row], peers: tuple[str, ...], target: str) -> Verdict:
    pairs = [(row, peer) for row in rows for peer in peers if peer in row["entropy"]]
    above = [
        f"{_name(row)} ({peer})"
        for row, peer in pairs
        if row["entropy"]["best"] > row["entropy"][peer] + ROUNDING
    ]
    return Verdict(target, f"{len(pairs) - len(above)} of {len(pairs)}{not_on(above)}", not above)


def _lfr(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    large = [row for row in rows if row["edges"] >= 2e5 and row["mixing"] <= 0.5]
    verdicts = [
        _lower(rows, MODULARITY, "LFR: `best` no higher than PLM, ParallelLeiden and Leiden"),
        _lower(rows, ("Infomap",), "LFR: `best` no higher than Infomap"),
    ]
    easy = [row for row in rows if row["mixing"] <= 0.5 and row["edges"] >= 5e4]
    share = min(row["nmi"]["fast"] / row["nmi"]["best"] for row in easy)
    verdicts.append(
        Verdict(
            "LFR up to mixing 0.5: NMI of `fast` at least 0.99 of that of `best`",
            f"{share:.4f} at least",
            share >= 0.99,
        )
    )
    if large:
        verdicts += [
            _slowest(large, "PLM", 1.5, "LFR from 200,000 edges: `best` at most 1.5 times PLM"),
            _slowest(large, "PLM", 0.5, "the same: `fast` at most half of PLM", "fast"),
        ]
    return [_comparison(rows, agreement=True)], verdicts


def _families(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    verdicts = [
        _lower(
            rows,
            (*MODULARITY, "Infomap"),
            "planted, Barabasi-Albert, R-MAT, grid: `best` no higher than any program",
        )
    ]
    planted = [row for row in rows if row["graph"] == "planted partition"]
    others = [row for row in rows if row["graph"] != "planted partition"]
    verdicts += [
        _slowest(planted, "PLM", 1.5, "planted partition: `best` at most 1.5 times PLM"),
        _slowest(others, "PLM", 3, "Barabasi-Albert, R-MAT, grid: `best` at most 3 times PLM"),
    ]
    return [_comparison(rows, agreement=False)], verdicts


def _knn(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    target = "weighted graphs of neighbours: `best` no higher than any program"
    return [_comparison(rows, agreement=True)], [_lower(rows, (*MODULARITY, "Infomap"), target)]


def _planted(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    programs = columns(rows, "ami")
    lines = []
    for shares in dict.fromkeys(tuple(row["shares"]) for row in rows):
        group = [row for row in rows if tuple(row["shares"]) == shares]
        for program in programs:
            found = [row["ami"][program] for row in group if program in row["ami"]]
            levels = [f"{mean(level):.4f}" for level in zip(*found, strict=True)]
            lines.append([" / ".join(map(str, shares)), program, len(found), *levels])
    header = ["share of links inside", "program", "graphs", "64 clusters", "16", "4"]
    return [table(header, lines)], []


def _heights(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    lines, slow = [], {3: 0.0, 4: 0.0}
    by_graph: dict[str, dict[int, Row]] = {}
    for row in rows:
        by_graph.setdefault(_name(row), {})[row["height"]] = row
    for name, heights in by_graph.items():
        base = heights[2]["seconds"]["best"]
        cells = []
        for height, row in heights.items():
            ratio = row["seconds"]["best"] / base
            if height in slow:
                slow[height] = max(slow[height], ratio)
            entropy = row["entropy"]
            cells.append(
                f"{seconds(row['seconds']['best'])}, {entropy['best']:.4f} "
                f"({entropy['best of 4']:.4f})"
            )
        lines.append([name, *cells])
    header = ["`best`: time, entropy (lowest of 4)", "height 2", "height 3", "height 4"]
    verdicts = [
        Verdict(
            f"height {h} at most {most} times height 2", f"{slow[h]:.2f} at most", slow[h] <= most
        )
        for h, most in ((3, 3.5), (4, 5.0))
    ]
    return [table(header, lines)], verdicts


def _blocks(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    sizes = columns(rows, "seconds")
    lines = [
        [_name(row), *(f"{seconds(row['seconds'][s])}, {row['entropy'][s]:.4f}" for s in sizes)]
        for row in rows
    ]
    return [table(["`fast`, height 2: time, entropy", *sizes], lines)], []


def _threads(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    lines, gains, read = [], [], []
    for row in rows:
        s = row["seconds"]
        gain = s["1 threads"] / s["2 threads"]
        with_reading = s["1 threads, with reading"] / s["2 threads, with reading"]
        if row["edges"] >= 5e6:
            gains.append(gain)
            read.append(with_reading)
        lines.append(
            [_name(row), row["height"], *map(seconds, s.values()), times(gain), times(with_reading)]
        )
    header = [
        "graph",
        "height",
        "1 thread",
        "with reading",
        "2 threads",
        "with reading",
        "gain",
        "gain with reading",
    ]
    same = all(row["same"] for row in rows)
    verdicts = [Verdict("the same tree with 1, 2, 3 and 16 threads", str(same), same)]
    if gains:
        verdicts += [
            Verdict(
                "two threads 1.7 times from 5 M edges on", times(min(gains)), min(gains) >= 1.7
            ),
            Verdict("the same with reading 1.6 times", times(min(read)), min(read) >= 1.6),
        ]
    return [table(header, lines)], verdicts


def _growth(rows: list[Row]) -> tuple[list[str], list[Verdict]]:
    lines = [
        [
            row["program"],
            count(row["edges"]),
            seconds(row["seconds"]),
            f"{row['bytes']:.0f}",
            f"{row['nmi']:.4f}",
        ]
        for row in rows
    ]
    verdicts = []
    ours = [row for row in rows if row["program"] != "PLM"]
    for program in dict.fromkeys(row["program"] for row in ours):
        group = [row for row in ours if row["program"] == program and row["edges"] <= 5e7]
        steepest = max(
            log(b["seconds"] / a["seconds"]) / log(b["edges"] / a["edges"])
            for a, b in pairwise(group)
        )
        target = f"`best`, {program.split(', ')[1]}: growth up to 50 M edges at most m^1.2"
        verdicts.append(Verdict(target, f"m^{steepest:.2f}", steepest <= 1.2))
    largest = max(row["edges"] for row in ours)
    peak = max(row["bytes"] for row in ours if row["edges"] == largest)
    worst = min(row["nmi"] for row in ours if row["edges"] == largest)
    verdicts += [
        Verdict(f"at most 60 bytes an edge at {count(largest)} edges", f"{peak:.0f}", peak <= 60),
        Verdict(f"NMI at least 0.99 at {count(largest)} edges", f"{worst:.4f}", worst >= 0.99),
    ]
    header = ["LFR, mixing 0.3, two threads", "edges", "time", "bytes an edge", "NMI"]
    return [table(header, lines)], verdicts
