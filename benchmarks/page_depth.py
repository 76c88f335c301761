"""The section on the depth that is chosen."""

from __future__ import annotations

from statistics import mean

from page import Render, Section, Verdict, columns, count, seconds, table, times
from results import Row

TEXT = (
    "`coding_tree(graph)` without a height, Infomap with its multilevel default and graph-tool's "
    "nested block model, each on the same graphs."
)
LIMITS = ((100_000, 15.0), (float("inf"), 5.0))  # edges, and times a tree of height 3


def depth(rows: list[Row]) -> Section:
    parts: dict[str, Render] = {
        "random": _random,
        "planted": _planted,
        "lfr": _lfr,
        "known": _known,
        "time": _time,
        "update": _update,
        "directed": _directed,
    }
    return Section.of_parts("Depth", TEXT, rows, parts)


def _share(values: list[bool]) -> str:
    return f"{100 * mean(values):.1f} %"


def _random(rows: list[Row]) -> tuple[str, list[Verdict]]:
    programs = columns(rows, "split")
    kinds = list(dict.fromkeys(row["graph"] for row in rows))
    lines = []
    for kind in [*kinds, "all"]:
        group = [row for row in rows if kind in (row["graph"], "all")]
        lines.append(
            [kind, len(group), *(_share([r["split"][p] for r in group]) for p in programs)]
        )
    whole = mean(not row["split"]["sepool"] for row in rows)
    verdict = Verdict(
        "graphs of chance: no split in at least 95 %", f"{100 * whole:.1f} %", whole >= 0.95
    )
    return table(["graphs with a component split", "graphs", *programs], lines), [verdict]


def _planted(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines = []
    for name in dict.fromkeys(row["graph"] for row in rows):
        for program in dict.fromkeys(row["program"] for row in rows):
            group = [r for r in rows if r["graph"] == name and r["program"] == program]
            exact = _share([row["levels"] == row["planted"] for row in group])
            levels = zip(*(row["ami"] for row in group), strict=True)
            ami = " / ".join(f"{mean(level):.4f}" for level in levels)
            lines.append([name, program, len(group), exact, ami])
    ours = [row for row in rows if row["program"] == "sepool"]
    exact = mean(row["levels"] == row["planted"] for row in ours)
    ami = mean(value for row in ours for value in row["ami"])
    verdicts = [
        Verdict(
            f"planted number of levels in at least 90 % of {len(ours)} graphs",
            f"{100 * exact:.1f} %",
            exact >= 0.9,
        ),
        Verdict("planted levels: mean AMI at least 0.99", f"{ami:.4f}", ami >= 0.99),
    ]
    head = [
        "planted hierarchy",
        "program",
        "graphs",
        "with the planted number of levels",
        "AMI by level, finest first",
    ]
    return table(head, lines), verdicts


def _lfr(rows: list[Row]) -> tuple[str, list[Verdict]]:
    programs = columns(rows, "ami")
    lines = []
    for n, mixing in dict.fromkeys((row["nodes"], row["mixing"]) for row in rows):
        group = [row for row in rows if (row["nodes"], row["mixing"]) == (n, mixing)]
        cells = []
        for program in programs:
            levels = [row["levels"][program] for row in group if program in row["levels"]]
            depth = f" ({mean(levels):.1f} levels)" if levels else ""
            cells.append(f"{mean(row['ami'][program] for row in group):.4f}{depth}")
        lines.append([f"{n:,}, {mixing:g}", *cells])
    easy = [row for row in rows if row["mixing"] <= 0.5]
    one = mean(row["levels"]["sepool"] == 1 for row in easy)
    least = min(row["ami"]["sepool"] for row in easy)
    verdicts = [
        Verdict("LFR up to mixing 0.5: one level", f"{100 * one:.1f} %", one == 1),
        Verdict("LFR up to mixing 0.5: AMI at least 0.99", f"{least:.4f} at least", least >= 0.99),
    ]
    return table(["LFR: nodes, mixing", *programs], lines), verdicts


def _known(rows: list[Row]) -> tuple[str, list[Verdict]]:
    programs = list(dict.fromkeys(name for row in rows for name in row["ami"]))
    lines, above = [], []
    for row in rows:
        cells = []
        for program in programs:
            levels = "/".join(map(str, row["levels"].get(program, [])))
            text = f"{row['ami'][program]:.3f}" if program in row["ami"] else ""
            cells.append(f"{text} ({levels})" if levels else text)
        lines.append([row["graph"], *cells])
        others = [value for name, value in row["ami"].items() if name != "sepool"]
        above.append(row["ami"]["sepool"] >= max(others))
    target = "graphs with classes: AMI of the best level at least that of any program"
    verdict = Verdict(target, f"on {sum(above)} of {len(above)}", all(above))
    return table(["AMI with the classes (clusters a level)", *programs], lines), [verdict]


def _time(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, verdicts = [], []
    ratio = {id(row): row["seconds"]["chosen"] / row["seconds"]["height 3"] for row in rows}
    for row in rows:
        s = row["seconds"]
        name = f"{row['graph']}, {count(row['edges'])} edges"
        lines.append([name, seconds(s["height 3"]), seconds(s["chosen"]), times(ratio[id(row)])])
    low = 0.0
    for high, most in LIMITS:
        group = [ratio[id(row)] for row in rows if low < row["edges"] <= high]
        if group:
            size = "up to" if low == 0 else "above"
            worst = max(group)
            target = f"chosen depth {size} 100,000 edges: at most {most:g} times height 3"
            verdicts.append(Verdict(target, f"{worst:.1f} at most", worst <= most))
        low = high
    return table(["time", "height 3", "chosen", "ratio"], lines), verdicts


def _update(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, verdicts = [], []
    for row in rows:
        s, h = row["seconds"], row["entropy"]
        gain, rise = s["anew"] / s["update"], h["update"] / h["anew"] - 1
        name = f"{100 * row['share']:g} % of the {row['change']}, height {row['height']}"
        lines.append(
            [
                name,
                seconds(s["anew"]),
                seconds(s["update"]),
                times(gain),
                f"{100 * rise:+.3f} %",
                f"{100 * row['stayed']:.1f} %",
            ]
        )
        if row["change"] == "nodes":
            stayed, target = row["stayed"], f"{name}: at least 95 % of unchanged clusters stay"
            verdicts.append(Verdict(target, f"{100 * stayed:.1f} %", stayed >= 0.95))
        else:
            most = 4 if (row["share"], row["change"]) == (0.01, "edges") else 20
            verdicts.append(Verdict(f"{name}: {most} times faster", times(gain), gain >= most))
        verdicts.append(Verdict(f"{name}: H within 0.1 %", f"{100 * rise:+.3f} %", rise <= 0.001))
    head = ["update after a change", "new search", "update", "ratio", "H", "clusters that stayed"]
    return table(head, lines), verdicts


def _directed(rows: list[Row]) -> tuple[str, list[Verdict]]:
    programs = columns(rows, "nmi")
    lines = []
    for n, name in dict.fromkeys((row["nodes"], row["graph"]) for row in rows):
        group = [row for row in rows if (row["nodes"], row["graph"]) == (n, name)]
        lines.append(
            [f"{name}, {n:,} nodes", *(f"{mean(r['nmi'][p] for r in group):.4f}" for p in programs)]
        )
    worst = min(row["nmi"]["sepool"] - row["nmi"]["Infomap"] for row in rows)
    target = "directed LFR: NMI at least that of Infomap less 0.01"
    verdict = Verdict(target, f"{worst:+.4f} at least", worst >= -0.01)
    return table(["NMI", *programs], lines), [verdict]
