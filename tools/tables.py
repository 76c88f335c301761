"""Writes measured tables into the pages, between markers: `python tools/tables.py [--check]`.

A page holds ``<!-- table: NAME -->`` and ``<!-- end of table -->``; what stands between them is
made of the rows in `results/` and `benchmarks/results/`, and of nothing else; so is all of
`benchmarks/README.md`. With ``--check``
nothing is written; the program says which pages are out of date and ends with 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import page_epoch
import page_pyg
import page_quality
import page_speed
import page_systems
import report as bench_report
from page import Section, grouped, percent, table
from results import load

MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
NOTHING = "Nothing has been measured yet."


@cache
def measured() -> dict[str, Any]:
    """The files of `benchmarks/results`."""
    return load(quick=False)


def source(script: str, part: str = "") -> str:
    """The command and the machine behind a table, in brief."""
    file = measured()[script]
    machine = file["machine"]
    # The file names the command of its last change, which may have been another part.
    command = f"python benchmarks/{script}.py --parts {part}" if part else file["command"]
    where = f"{machine['processor']} ({machine['cores']} cores)"
    if accelerator := machine.get("accelerator"):
        where = f"{accelerator}, {where}"
    return f"`{command}`, {file['date']}, on {where}, Python {machine['python']}."


def bench(script: str, make: Callable[[list[Any]], Section], part: str = "", most: int = 9) -> str:
    """The tables of one benchmark as its own page has them, and where they come from."""
    if script not in measured():
        return NOTHING
    rows = [row for row in measured()[script]["rows"] if not part or row.get("part") == part]
    if not rows:
        return NOTHING
    return "\n\n".join([*make(rows).tables[:most], source(script, part)])


def optimum() -> str:
    """The gap to the optimum over all graphs that were solved exactly, one line a height."""
    if "optimum" not in measured():
        return NOTHING
    gaps = [row for row in measured()["optimum"]["rows"] if row["kind"] == "gap" and row["graphs"]]
    methods = list(dict.fromkeys(row["method"] for row in gaps))
    lines = []
    for (height,), some in grouped(sorted(gaps, key=lambda row: row["height"]), "height"):
        mine = {m: [row for row in some if row["method"] == m] for m in methods}
        count = sum(row["graphs"] for row in mine["best"])
        means = {
            m: sum(row["graphs"] * row["mean_gap"] for row in rows) / count
            for m, rows in mine.items()
        }
        lines.append([f"height {height}", f"{count:,}", *(percent(means[m]) for m in methods)])
    text = table(["mean gap to the optimum", "graphs", *methods], lines)
    return f"{text}\n\n{source('optimum')}"


def targets() -> str:
    """How many of the targets of `benchmarks/README.md` are met."""
    sections = [
        make(measured()[name]["rows"])
        for name, make in bench_report.SECTIONS.items()
        if name in measured()
    ]
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    missed = "; ".join(f"{v.target}: {v.measured}" for v in verdicts if not v.met)
    met = sum(verdict.met for verdict in verdicts)
    return f"{met} of {len(verdicts)} targets are met. Not met: {missed or 'none'}."


@cache
def rows() -> Any:
    """All rows in `results/`."""
    from sepool_experiments.results.rows import Rows

    return Rows.read(ROOT / "results")


def accuracy(names: Sequence[str] = (), rule: str = "customary") -> str:
    """Accuracies of every line that was measured, with the published figure in brackets."""
    from sepool_experiments.protocols.catalog import PROTOCOLS

    parts = [
        _accuracy(protocol, rule)
        for protocol in PROTOCOLS.values()
        if (not names or protocol.name in names) and not protocol.name.endswith("-quick")
    ]
    return "\n\n".join(filter(None, parts)) or NOTHING


def _lines(found: Sequence[Any], rule: str, which: str = "") -> list[list[str]]:
    """A line for every system of which there is something, and a word behind its name."""
    from itertools import groupby

    from sepool_experiments.report.tables import MISSING, figure

    lines = []
    for line, some in groupby(found, key=lambda cell: cell.line):
        row = list(some)
        if all(cell.selected[rule] is None for cell in row):
            continue
        texts = []
        for cell in row:
            chosen, star = cell.selected[rule], "" if cell.complete else " *"
            text = MISSING if chosen is None else figure(chosen.mean, chosen.spread, star)
            known = f" ({cell.published.mean:.2f})" if cell.published else ""
            texts.append(f"{text}{known}")
        lines.append([f"{line}{which}", *texts])
    return lines


def _accuracy(protocol: Any, rule: str) -> str:
    from sepool_experiments.protocols.catalog import PROTOCOLS
    from sepool_experiments.report.cells import cells, joined, own_rows

    mine = own_rows(protocol, rows())
    if mine.empty:
        return ""
    found = cells(protocol, rows())
    datasets = list(dict.fromkeys(cell.dataset for cell in found))
    systems = dict.fromkeys(cell.line.system for cell in found if cell.selected[rule])
    lines = _lines(found, rule)
    if protocol.rival:
        both = joined(cells(PROTOCOLS[protocol.rival], rows()), found)
        usual = [cell for cell in both if cell.line.tree in protocol.trees]
        lines += _lines(usual, rule, f", this or `{protocol.rival}`")
    starred = any(" *" in text for line in lines for text in line)
    which = "" if set(systems) == set(protocol.systems) else f" --systems {','.join(systems)}"
    if "(" in which:
        which = f' --systems "{",".join(systems)}"'
    star = " * Not all trainings of the protocol are there yet." if starred else ""
    paper = "; in brackets what the paper says" if any(cell.published for cell in found) else ""
    return (
        f"**{protocol.title}**: test accuracy in percent, mean ± standard deviation over seeds"
        f"{paper}.{star}\n\n"
        f"{table(['', *datasets], lines)}\n\n"
        f"`sepool reproduce {protocol.name}{which}`: {_made_by(mine)}"
    )


def _made_by(mine: Any) -> str:
    words = []
    for name in ("device", "sepool", "torch", "python"):
        values = ", ".join(sorted(set(mine[f"run_{name}"]) - {""})) or "unknown"
        words.append(f"{name} {values}")
    return f"{len(mine):,} trainings; {'; '.join(words)}."


@cache
def report_tables(protocol: str) -> dict[str, Any]:
    """The tables of a protocol as `sepool report` has them, by name."""
    from sepool_experiments.protocols.catalog import PROTOCOLS
    from sepool_experiments.report.cells import cells, own_rows
    from sepool_experiments.report.report import tables

    found = PROTOCOLS[protocol]
    made = tables(found, cells(found, rows()), own_rows(found, rows()), against_paper=True)
    return {one.name: one for one in made}


def of_report(protocol: str, name: str) -> str:
    """A table of the report."""
    from sepool_experiments.report.tables import markdown

    found = report_tables(protocol).get(f"{protocol}-{name}")
    if found is None:
        return NOTHING
    return "\n\n".join([markdown(found), found.note, "`sepool report --against paper`"])


def study(name: str) -> str:
    """The table of a figure, as `sepool reproduce` wrote it beside the picture."""
    path = ROOT / "results" / name / f"{name}.md"
    if not path.exists():
        return NOTHING
    text = path.read_text(encoding="utf-8").strip()
    title, _, rest = text.partition("\n\n")
    return f"**{title.lstrip('# ')}**\n\n{rest}\n\n`sepool reproduce {name}`"


TABLES: dict[str, Callable[[], str]] = {
    "accuracy": lambda: accuracy(("table1", "released", "table3", "sepn-search")),
    "accuracy-all": accuracy,
    "optimum": optimum,
    "targets": targets,
    "tgp": lambda: bench("speed", page_speed.speed, "small"),
    "infomap": lambda: bench("speed", page_speed.speed, "infomap"),
    "large": lambda: bench("speed", page_speed.speed, "large"),
    "scale": lambda: bench("scale", page_speed.scale),
    "relabel": lambda: bench("relabel", page_quality.relabel),
    "entropy": lambda: bench("entropy", page_quality.entropy),
    "pyg": lambda: bench("pyg", page_pyg.pyg),
    "epoch": lambda: bench("epoch", page_epoch.epoch),
    "lockstep": lambda: bench("lockstep", page_epoch.lockstep),
    "lockstep-brief": lambda: bench("lockstep", page_epoch.lockstep, most=1),
    "systems": lambda: bench("systems_cuda", page_systems.systems_cuda),
    "ranks": lambda: of_report("table1", "ranks"),
    "verdicts": lambda: of_report("table1", "verdicts"),
    "trees": lambda: of_report("table1", "trees"),
    "tree-control": lambda: of_report("table1", "control"),
    "tree-entropy": lambda: bench("trees", page_quality.trees),
    "node-control": lambda: of_report("table3", "control"),
    "search-control": lambda: of_report("sepn-search", "control"),
    "figure3": lambda: study("figure3"),
    "figure4": lambda: study("figure4"),
}


def filled(text: str) -> str:
    """A page with its tables as they are now."""

    def fill(marked: re.Match[str]) -> str:
        begin, name, end = marked.groups()
        if name not in TABLES:
            raise ValueError(f"there is no table {name!r}; there are {', '.join(TABLES)}")
        return f"{begin}{TABLES[name]()}\n{end}"

    return MARKED.sub(fill, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if old")
    check = parser.parse_args().check
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(after, encoding="utf-8")
    page = ROOT / "benchmarks" / "README.md"
    if page.read_text(encoding="utf-8") != (text := bench_report.render(quick=False)):
        stale.append(str(page.relative_to(ROOT)))
        if not check:
            page.write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(
            f"older than the rows in results/ and benchmarks/: {', '.join(stale)}; make readme"
        )
    print("\n".join(f"wrote {name}" for name in stale) or "all tables are up to date")


if __name__ == "__main__":
    main()
