"""The section of the page about PyTorch Geometric."""

from __future__ import annotations

from page import Section, Verdict, columns, count, seconds, table, times
from results import Row

FASTER, ALL_SEVEN, MEGABYTES, LOADER = 200, 120, 60, 1.25


def pyg(rows: list[Row]) -> Section:
    parts = {"trees": _trees, "datasets": _datasets, "disk": _disk, "loader": _loader}
    return Section.of_parts("In PyTorch Geometric", PYG, rows, parts)


def _trees(rows: list[Row]) -> tuple[str, list[Verdict]]:
    methods = columns(rows, "seconds")
    lines, verdicts = [], []
    for row in rows:
        spent = row["seconds"]
        lines.append([row["graph"], row["graphs"], *(seconds(spent.get(m)) for m in methods)])
        if "tgp" in spent:
            ratio = spent["tgp"] / spent["fast"]
            processor = row["processor"]["tgp"] / row["processor"]["fast"]
            lines[-1] += [times(ratio), times(processor)]
            target = f"trees of {row['graph']} {FASTER} times faster than tgp's pre-coarsening"
            verdicts.append(Verdict(target, f"{times(ratio)} (`fast`)", ratio >= FASTER))
    header = ["dataset, height 3, one thread", "graphs", *methods, "tgp / fast", "processor time"]
    return table(header[: len(lines[0])], lines), verdicts


def _datasets(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines = [[r["graph"], r["graphs"], count(r["edges"]), seconds(r["seconds"])] for r in rows]
    total = sum(row["seconds"] for row in rows)
    lines.append(["together", sum(r["graphs"] for r in rows), "", seconds(total)])
    header = ["dataset, height 3, `best`, all cores", "graphs", "directed edges", "trees in"]
    verdict = Verdict(
        f"trees of all seven TU datasets in under {ALL_SEVEN} s",
        f"{seconds(total)} for {len(rows)}",
        len(rows) == 7 and total < ALL_SEVEN,
    )
    return table(header, lines), [verdict]


def _disk(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, verdicts = [], []
    for row in rows:
        size = row["bytes"] / 1e6
        cells = [count(row["edges"]), f"{size:.2f} MB", seconds(row["save"]), seconds(row["load"])]
        lines.append([row["graph"], *cells])
        target = f"{row['graph']} with trees under {MEGABYTES} MB on disk"
        verdicts.append(Verdict(target, f"{size:.2f} MB", size < MEGABYTES))
    return table(["dataset, one file", "directed edges", "size", "save", "load"], lines), verdicts


def _loader(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, ratios = [], []
    for row in rows:
        spent = row["seconds"]
        ratio = spent["with trees"] / spent["without"]
        ratios.append((ratio, row["graph"]))
        cells = [seconds(spent["without"]), seconds(spent["with trees"]), f"{ratio:.2f}x"]
        lines.append([row["graph"], row["batch"], *cells])
    worst = max(ratios)
    target = f"the stock loader with trees at most {LOADER} times without"
    verdict = Verdict(target, f"{worst[0]:.2f}x at worst ({worst[1]})", worst[0] <= LOADER)
    header = ["one pass of the loader", "batch", "without trees", "with trees", "ratio"]
    return table(header, lines), [verdict]


PYG = """\
`AddCodingTree(3).apply_all(dataset)` from a dataset in memory to the same dataset with trees and \
pooled edges on every level. tgp is torch-geometric-pool's `PreCoarsening` transform with two SEP \
levels (a tree of height 3), graph by graph; the last column is the ratio of processor times, \
which other work on the machine does not stretch. The file is that of `sepool.save_graphs`; what \
is loaded equals what was saved. The loader is PyG's own, shuffled, without workers."""
