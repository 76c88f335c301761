"""The section on graphs larger than memory."""

from __future__ import annotations

from page import Section, Verdict, count, not_on, percent, seconds, table, times
from results import Row

TEXT = (
    "`sepool.large.coding_tree` on DuckDB at height 2, on Parquet, with memory for 40 % of the "
    "edges, or 2 GB where the search in memory did not run; 2 threads, every search a process of "
    "its own, reading included. Excess is that of the entropy over the search in memory. The "
    "entropy was computed once more by NumPy, a block of edges at a time."
)
MOST_EXCESS, LEAST_NMI, MOST_RATIO, MOST_SPILL = 0.02, 0.97, 15.0, 40e9
ROUNDING = 1e-9


def large(rows: list[Row]) -> Section:
    head = ["graph", "memory", "rounds", "excess", "NMI", "time", "in memory", "peak", "spilled"]
    lines = [[f"{row['graph']}, {count(row['edges'])} edges", *_cells(row)] for row in rows]
    return Section("Graphs larger than memory", TEXT, [table(head, lines)], _verdicts(rows))


def _excess(row: Row) -> float:
    return float(row["entropy"] / row["in_memory"]["entropy"] - 1)


def _cells(row: Row) -> list[str]:
    whole = row.get("in_memory")
    return [
        _bytes(row["memory"]),
        str(row["rounds"]),
        percent(_excess(row)) if whole else "",
        "" if row["nmi"] is None else f"{row['nmi']:.3f}",
        seconds(row["seconds"]),
        seconds(whole["seconds"]) if whole else "",
        _bytes(row["peak_bytes"]),
        _bytes(row["spilled_bytes"]),
    ]


def _bytes(value: int) -> str:
    return f"{value / 1e9:.3g} GB" if value >= 1e9 else f"{value / 1e6:.3g} MB"


def _verdicts(rows: list[Row]) -> list[Verdict]:
    both = [row for row in rows if "in_memory" in row]
    clear = [row for row in both if "0.6" not in row["graph"]]
    lfr = [row for row in clear if row["nmi"] is not None and row["graph"].startswith("LFR")]
    wrong = [row for row in rows if abs(row["entropy"] - row["streamed_entropy"]) > ROUNDING]
    ratios = [row["seconds"] / row["in_memory"]["seconds"] for row in both]
    spill = max(row["spilled_bytes"] for row in rows)
    equal = f"{len(rows) - len(wrong)} of {len(rows)}{not_on([row['graph'] for row in wrong])}"
    verdicts = [Verdict("entropy equal to that of NumPy", equal, not wrong)]
    if clear:
        worst = max(map(_excess, clear))
        target = "entropy at most 2 % above the search in memory, communities of mixing 0.3"
        verdicts.append(Verdict(target, f"{percent(worst)} above", worst <= MOST_EXCESS))
    if lfr:
        least = min(row["nmi"] for row in lfr)
        verdicts.append(
            Verdict("NMI on LFR graphs at least 0.97", f"{least:.3f}", least >= LEAST_NMI)
        )
    if ratios:
        text = f"{times(max(ratios))} at most"
        target = "time at most 15 times that of the search in memory"
        verdicts.append(Verdict(target, text, max(ratios) <= MOST_RATIO))
    return [*verdicts, Verdict("at most 40 GB spilled", _bytes(spill), spill <= MOST_SPILL)]
