"""Write measured tables into the pages, between markers: `python tools/tables.py [--check]`.

The text between ``<!-- table: NAME -->`` and ``<!-- end of table -->`` is made of the rows in
`results/` and `benchmarks/results/` alone; so is all of `benchmarks/README.md`. With ``--check``
nothing is written, and the program fails if a page is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import page_communities
import page_depth
import page_epoch
import page_large
import page_minimisers
import page_quality
import page_speed
import report as bench_report
from page import Section, count, grouped, percent, seconds, table
from results import load
from sepool_experiments import tables
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.longrange import LongRange
from sepool_experiments.report import cells as report_cells
from sepool_experiments.report import long_range as long_range_report
from sepool_experiments.report import report
from sepool_experiments.results.rows import Rows

MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
PARTS = ("lfr", "families", "knn", "planted", "heights", "blocks", "threads", "gve", "growth")
DEPTH_PARTS = ("random", "planted", "lfr", "known", "time", "update", "directed")
RULE = "customary"  # how a configuration is chosen
LONG_RANGE = {
    name: table
    for name, table in PROTOCOLS.items()
    if isinstance(table, LongRange) and not name.endswith("-quick")
}


@cache
def measured() -> dict[str, Any]:
    """The files of `benchmarks/results`."""
    return load(quick=False)


def origin(script: str, part: str = "") -> str:
    """The command and the machine behind a table, in brief."""
    file = measured()[script]
    file = file.get("runs", {}).get(part, file)
    machine = file["machine"]
    # The file names the command of its last change, which may have been another part.
    command = f"python benchmarks/{script}.py --parts {part}" if part else file["command"]
    where = f"{machine['processor']} ({machine['cores']} cores)"
    if accelerator := machine.get("accelerator"):
        where = f"{accelerator}, {where}"
    return f"`{command}`, {file['date']}, on {where}, Python {machine['python']}."


def bench(script: str, make: Callable[[list[Any]], Section], part: str = "", most: int = 9) -> str:
    """The tables of one benchmark as its own page has them, and where they come from."""
    rows = [row for row in measured()[script]["rows"] if not part or row.get("part") == part]
    return "\n\n".join([*make(rows).tables[:most], origin(script, part)])


def optimum() -> str:
    """The gap to the optimum over all graphs that were solved exactly, one line a height."""
    gaps = [row for row in measured()["optimum"]["rows"] if row["kind"] == "gap" and row["graphs"]]
    methods = list(dict.fromkeys(row["method"] for row in gaps))
    lines = []
    for (height,), group in grouped(sorted(gaps, key=lambda row: row["height"]), "height"):
        by_method = {m: [row for row in group if row["method"] == m] for m in methods}
        graphs = sum(row["graphs"] for row in by_method["best"])
        means = {
            m: sum(row["graphs"] * row["mean_gap"] for row in rows) / graphs
            for m, rows in by_method.items()
        }
        lines.append([f"height {height}", f"{graphs:,}", *(percent(means[m]) for m in methods)])
    text = table(["mean gap to the optimum", "graphs", *methods], lines)
    return f"{text}\n\n{origin('optimum')}"


def targets() -> str:
    """How many of the targets of `benchmarks/README.md` are met."""
    sections = bench_report.sections(measured()).values()
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    missed = "; ".join(f"{v.target}: {v.measured}" for v in verdicts if not v.met)
    met = sum(verdict.met for verdict in verdicts)
    return f"{met} of {len(verdicts)} targets are met. Not met: {missed or 'none'}."


@cache
def rows() -> Any:
    """All rows in `results/`."""
    return Rows.read(ROOT / "results")


@cache
def cells(protocol: str) -> Sequence[Any]:
    """The cells of a protocol's tables."""
    return report_cells.cells(PROTOCOLS[protocol], rows())


@cache
def own_rows(protocol: str) -> Any:
    """The rows of a protocol."""
    return report_cells.own_rows(PROTOCOLS[protocol], rows())


def _lines(row_cells: Sequence[Any]) -> list[list[str]]:
    """Format a line of text for each measured line of cells."""
    lines = []
    for line, group in groupby(row_cells, key=lambda cell: cell.line):
        row = [(cell, cell.selected[RULE]) for cell in group]
        if all(selected is None for _, selected in row):
            continue
        texts = []
        for cell, selected in row:
            star = "" if cell.complete else " *"
            text = (
                tables.MISSING
                if selected is None
                else tables.figure(selected.mean, selected.spread, star)
            )
            texts.append(text + (f" ({cell.published.mean:.2f})" if cell.published else ""))
        lines.append([str(line), *texts])
    return lines


def accuracy(name: str) -> str:
    """Accuracies of all measured lines of a protocol, with the published figure in brackets."""
    datasets = list(dict.fromkeys(cell.dataset for cell in cells(name)))
    text = table(["", *datasets], _lines(cells(name)))
    return f"{text}\n\n`sepool reproduce {name}`: {_made_by(own_rows(name))}"


def _made_by(trainings: Any) -> str:
    words = []
    for name in ("device", "sepool", "torch", "python"):
        values = ", ".join(sorted(set(trainings[f"run_{name}"]) - {""})) or "unknown"
        words.append(f"{name} {values}")
    return f"{len(trainings):,} trainings; {'; '.join(words)}."


@cache
def report_tables(name: str) -> dict[str, Any]:
    """The tables of a protocol in `sepool report`, by name."""
    made = report.tables(PROTOCOLS[name], cells(name), own_rows(name), against_paper=True)
    return {one.name: one for one in made}


def long_range(name: str, part: str) -> str:
    """A table of the protocols longrange and longrange-tu: "scores" or "tests"."""
    made = long_range_report.long_range_tables(LONG_RANGE[name], own_rows(name))
    (shown,) = (one for one in made if one.name == f"{name}-{part}")
    origin = f"`sepool reproduce {name}`: {_made_by(own_rows(name))}"
    return "\n\n".join([tables.markdown(shown), shown.note, origin][: 3 if part == "scores" else 2])


def verdicts() -> str:
    """The outcomes of the paired tests of SEP-G against its baselines."""
    return str(report_tables("table1")["table1-verdicts"].note)


def against_random() -> str:
    """Accuracy along the best trees less that along random ones."""
    lines = [
        [f"`{name}`", dataset, system, *test]
        for name in ("table1", "table3", "sepn-search")
        for dataset, system, rule, *test in report_tables(name)[f"{name}-control"].rows
        if rule == RULE and system.endswith("(best)")
    ]
    head = ["protocol", "dataset", "system", "difference", "pairs", "p", "p (Holm)"]
    return f"{table(head, lines)}\n\n`sepool report --against paper`"


def entropy() -> str:
    """Entropy of every method at height 2 on single graphs."""
    rows = measured()["entropy"]["rows"]
    single = [row for row in rows if row["kind"] == "graph" and row["height"] == 2]
    text = page_quality.entropy(single).tables[0]
    return f"{text}\n\n{origin('entropy')}"


def communities(part: str) -> str:
    """The tables of one part of the benchmark on communities."""
    of_part = [row for row in measured()["communities"]["rows"] if row["part"] == part]
    text = "\n\n".join(page_communities.communities(of_part).tables)
    return f"{text}\n\n{origin('communities', part)}"


def large_lfr() -> str:
    """Time and agreement of the programs on the largest LFR graph, a line each."""
    lfr = [row for row in measured()["communities"]["rows"] if row["part"] == "lfr"]
    row = max(lfr, key=lambda row: (row["edges"], -row["mixing"]))
    lines = [
        [
            name,
            seconds(row["seconds"][name]),
            f"{row['nmi'][name]:.3f}",
            f"{row['entropy'][name]:.4f}",
        ]
        for name in row["seconds"]
    ]
    head = [f"{row['graph']}, {count(row['edges'])} edges", "time", "NMI", "entropy"]
    return f"{table(head, lines)}\n\n{origin('communities', 'lfr')}"


TABLES: dict[str, Callable[[], str]] = {
    "table1": lambda: accuracy("table1"),
    "table2": lambda: accuracy("table2"),
    "table3": lambda: accuracy("table3"),
    "table4": lambda: accuracy("table4"),
    "tableA1": lambda: accuracy("tableA1"),
    **{
        f"{name}-{part}": partial(long_range, name, part)
        for name in LONG_RANGE
        for part in ("scores", "tests")
    },
    "verdicts": verdicts,
    "against-random": against_random,
    "tree-entropy": lambda: bench("trees", page_quality.trees),
    "entropy": entropy,
    "optimum": optimum,
    "tgp": lambda: bench("speed", page_speed.speed, "small"),
    **{f"communities-{part}": partial(communities, part) for part in PARTS},
    **{f"depth-{part}": partial(bench, "depth", page_depth.depth, part) for part in DEPTH_PARTS},
    "minimisers": lambda: bench("minimisers", page_minimisers.minimisers),
    "large-lfr": large_lfr,
    "large": lambda: bench("speed", page_speed.speed, "large"),
    "beyond-memory": lambda: bench("large", page_large.large),
    "lockstep": lambda: bench("lockstep", page_epoch.lockstep, most=1),
    "targets": targets,
}


def filled(text: str) -> str:
    """Return a page with its tables made anew."""

    def fill(marked: re.Match[str]) -> str:
        begin, name, end = marked.groups()
        if name not in TABLES:
            raise ValueError(f"expected a table of {', '.join(TABLES)}, got {name!r}")
        return f"{begin}{TABLES[name]()}\n{end}"

    return MARKED.sub(fill, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if old")
    check = parser.parse_args().check
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page: filled(page.read_text(encoding="utf-8")) for page in pages}
    texts[ROOT / "benchmarks" / "README.md"] = bench_report.render(quick=False)
    stale = [page for page, text in texts.items() if page.read_text(encoding="utf-8") != text]
    names = [str(page.relative_to(ROOT)) for page in stale]
    if check and stale:
        sys.exit(
            f"older than the rows in results/ and benchmarks/: {', '.join(names)}; make readme"
        )
    for page in stale:
        page.write_text(texts[page], encoding="utf-8")
    print("\n".join(f"wrote {name}" for name in names) or "all tables are up to date")


if __name__ == "__main__":
    main()
