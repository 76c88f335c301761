"""The section on communities of large graphs."""

from __future__ import annotations

from math import log
from statistics import mean

from page import Render, Section, Verdict, bits, columns, count, not_on, seconds, table, times
from results import Row

TEXT = (
    "Time on one thread, NMI with the planted communities, and the structural entropy of "
    "the clusters at height 2. All programs run with their defaults, Infomap with two levels and "
    "one trial; the graph objects are built before the clock starts."
)
MODULARITY = ("PLM", "ParallelLeiden", "Leiden")
ROUNDING = 1e-9


def communities(rows: list[Row]) -> Section:
    parts: dict[str, Render] = {
        "lfr": _lfr,
        "families": _families,
        "knn": _knn,
        "planted": _planted,
        "heights": _heights,
        "blocks": _blocks,
        "threads": _threads,
        "gve": _gve,
        "growth": _growth,
    }
    return Section.of_parts("Communities of large graphs", TEXT, rows, parts)


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
    return table(["time, NMI, entropy" if agreement else "time, entropy", *programs], lines)


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


def _lfr(rows: list[Row]) -> tuple[str, list[Verdict]]:
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
    return _comparison(rows, agreement=True), verdicts


def _families(rows: list[Row]) -> tuple[str, list[Verdict]]:
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
    return _comparison(rows, agreement=False), verdicts


def _knn(rows: list[Row]) -> tuple[str, list[Verdict]]:
    target = "weighted graphs of neighbours: `best` no higher than any program"
    return _comparison(rows, agreement=True), [_lower(rows, (*MODULARITY, "Infomap"), target)]


def _planted(rows: list[Row]) -> tuple[str, list[Verdict]]:
    programs = columns(rows, "ami")
    lines = []
    for shares in dict.fromkeys(tuple(row["shares"]) for row in rows):
        group = [row for row in rows if tuple(row["shares"]) == shares]
        for program in programs:
            ami = [row["ami"][program] for row in group if program in row["ami"]]
            levels = [f"{mean(level):.4f}" for level in zip(*ami, strict=True)]
            lines.append([" / ".join(map(str, shares)), program, len(ami), *levels])
    header = ["share of links inside", "program", "graphs", "64 clusters", "16", "4"]
    means = {
        program: [
            mean(row["ami"][program][level] for row in rows if program in row["ami"])
            for level in range(3)
        ]
        for program in programs
    }
    least = min(a - b for a, b in zip(means["best"], means["Infomap"], strict=True))
    target = "planted levels: mean AMI of `best` at least that of Infomap on every level"
    return table(header, lines), [Verdict(target, f"{least:+.4f} at least", least >= 0)]


def _heights(rows: list[Row]) -> tuple[str, list[Verdict]]:
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
    return table(header, lines), verdicts


def _blocks(rows: list[Row]) -> tuple[str, list[Verdict]]:
    sizes = columns(rows, "seconds")
    lines = [
        [_name(row), *(f"{seconds(row['seconds'][s])}, {row['entropy'][s]:.4f}" for s in sizes)]
        for row in rows
    ]
    return table(["`fast`, height 2: time, entropy", *sizes], lines), []


def _gve(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines = [[_name(row), *(seconds(value) for value in row["seconds"].values())] for row in rows]
    worst = max(_ratio(row, "GVE-Leiden") for row in rows)
    target = "`best` at most 1.2 times GVE-Leiden"
    programs = columns(rows, "seconds")
    return table(["height 2, one thread", *programs], lines), [
        Verdict(target, f"{worst:.2f} at most", worst <= 1.2)
    ]


def _threads(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, gains, read, shares = [], [], [], []
    for row in rows:
        s = row["seconds"]
        gain = s["1 threads"] / s["2 threads"]
        with_reading = s["1 threads, with reading"] / s["2 threads, with reading"]
        apart = 2 * s["1 threads"] / row["two_processes"]
        if row["edges"] >= 5e6:
            gains.append(gain)
            read.append(with_reading)
            shares.append(gain / apart)
        lines.append([_name(row), row["height"], *map(seconds, s.values())])
        lines[-1] += map(times, (gain, with_reading, apart))
    header = [
        "graph",
        "height",
        "1 thread",
        "with reading",
        "2 threads",
        "with reading",
        "gain",
        "gain with reading",
        "gain of two processes",
    ]
    same = all(row["same"] for row in rows)
    verdicts = [Verdict("the same tree with 1, 2, 3 and 16 threads", str(same), same)]
    if gains:
        verdicts += [
            Verdict(
                "two threads from 5 M edges on 1.7 times, or 0.85 of what two processes gain",
                f"{times(min(gains))}, {min(shares):.2f} of it",
                min(gains) >= 1.7 or min(shares) >= 0.85,
            ),
            Verdict("the same with reading 1.6 times", times(min(read)), min(read) >= 1.6),
        ]
    return table(header, lines), verdicts


def _growth(rows: list[Row]) -> tuple[str, list[Verdict]]:
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
    power = {
        program: _power([row for row in rows if row["program"] == program])
        for program in dict.fromkeys(row["program"] for row in rows)
    }
    for program, value in power.items():
        if program == "PLM":
            continue
        target = f"`best`, {program.split(', ')[1]}: time grows at most as m^1.2, below PLM's"
        text = f"m^{value:.2f}, PLM m^{power['PLM']:.2f}"
        verdicts.append(Verdict(target, text, value <= min(1.2, power["PLM"])))
    largest = max(row["edges"] for row in ours)
    peak = max(row["bytes"] for row in ours if row["edges"] == largest)
    worst = min(row["nmi"] for row in ours if row["edges"] == largest)
    verdicts += [
        Verdict(f"at most 60 bytes an edge at {count(largest)} edges", f"{peak:.0f}", peak <= 60),
        Verdict(f"NMI at least 0.99 at {count(largest)} edges", f"{worst:.4f}", worst >= 0.99),
    ]
    header = ["LFR, mixing 0.3, one thread", "edges", "time", "bytes an edge", "NMI"]
    return table(header, lines), verdicts


def _power(rows: list[Row]) -> float:
    """The power of the number of edges by which time grows from the least to 50 million."""
    first, *_, last = [row for row in rows if row["edges"] <= 5e7]
    return log(last["seconds"] / first["seconds"]) / log(last["edges"] / first["edges"])
