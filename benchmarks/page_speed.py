"""The speed and scale sections of the page."""

from __future__ import annotations

from itertools import pairwise

from page import Section, Verdict, bits, columns, count, grouped, not_on, seconds, table, times
from results import Row
from scale import exponent

SMALL = {"Cora": 1000, "MUTAG": 250, "PROTEINS": 250}
MOLECULES = 300_000
LARGE = {"PLM": 2, "Leiden": 5}
STEEPEST, LEAN, QUADRATIC = 1.15, 60, 1.5


def speed(rows: list[Row]) -> Section:
    parts = {"small": _small, "molecules": _molecules, "large": _large, "infomap": _infomap}
    return Section.of_parts("Speed", SPEED, rows, parts)


def _small(rows: list[Row]) -> tuple[str, list[Verdict]]:
    methods = columns(rows, "seconds")
    lines, verdicts = [], []
    for row in rows:
        spent = row["seconds"]
        lines.append([row["graph"], row["graphs"], *(seconds(spent.get(m)) for m in methods)])
        if "tgp SEP" in spent:
            ratio, wanted = spent["tgp SEP"] / spent["fast"], SMALL[row["graph"]]
            lines[-1].append(times(ratio))
            target = f"`fast` {wanted:,} times tgp SEP on {row['graph']}"
            verdicts.append(Verdict(target, times(ratio), ratio >= wanted))
    header = ["dataset, height 3", "graphs", *methods, "tgp SEP / fast"]
    return table(header[: len(lines[0])], lines), verdicts


def _molecules(rows: list[Row]) -> tuple[str, list[Verdict]]:
    methods = columns(rows, "rate")
    lines = [[f"height {r['height']}", *(count(r["rate"][m]) for m in methods)] for r in rows]
    verdicts = []
    for form in ("edge arrays", "built batch"):
        rate = min(row["rate"][f"fast, {form}"] for row in rows)
        target = f"300,000 molecules of 20 nodes a second in one call (`fast`, {form})"
        verdicts.append(Verdict(target, f"{count(rate)} a second", rate >= MOLECULES))
    return table(["molecules a second", *methods], lines), verdicts


def _large(rows: list[Row]) -> tuple[str, list[Verdict]]:
    methods = columns(rows, "seconds")
    lines, verdicts = [], []
    for row in rows:
        name = f"{row['graph']}, {count(row['edges'])} edges"
        spent, found = row["seconds"], row["entropy"]
        cells = [
            seconds(spent.get(m)) + (f" ({found[m]:.2f})" if m in found else "") for m in methods
        ]
        lines.append([name, *cells])
    for (asked,), group in grouped(rows, "asked"):
        for peer, wanted in LARGE.items():
            if peer not in group[0]["seconds"]:
                continue
            ratios = [(r["seconds"][peer] / r["seconds"]["fast"], r["graph"]) for r in group]
            target = f"`fast` {wanted} times {peer} on {count(asked)} edges"
            verdicts.append(Verdict(target, _worst(ratios), min(ratios)[0] >= wanted))
        if "Leiden" not in group[0]["seconds"]:
            continue
        ratios = [(r["seconds"]["Leiden"] / r["seconds"]["paper"], r["graph"]) for r in group]
        target = f"`paper` no slower than Leiden on {count(asked)} edges"
        verdicts.append(Verdict(target, _worst(ratios), min(ratios)[0] >= 1))
    return table(["graph", *methods], lines), verdicts


def _worst(ratios: list[tuple[float, str]]) -> str:
    return ", ".join(f"{times(ratio)} ({name})" for ratio, name in sorted(ratios))


def _infomap(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, slower, higher = [], [], []
    rows = [row for row in rows if "Infomap" in row["seconds"]]
    for row in rows:
        spent, found = row["seconds"], row["entropy"]
        ratio, least = spent["Infomap"] / spent["best"], min(found.values())
        if ratio < 1:
            slower.append(row["graph"])
        if found["best"] > found["Infomap"] + 1e-9:
            higher.append(row["graph"])
        both: list[str] = []
        for method in ("best", "Infomap"):
            both += [seconds(spent[method]), bits(found[method], least)]
        lines.append([row["graph"], count(row["edges"]), *both, times(ratio)])
    header = ["graph, height 2", "edges", "best", "H", "Infomap", "H", "Infomap / best"]
    verdicts = [
        Verdict(
            "`best` faster than Infomap on every graph",
            f"{len(rows) - len(slower)} of {len(rows)}" + not_on(slower),
            not slower,
        ),
        Verdict(
            "`best` at no higher entropy than Infomap on every graph",
            f"{len(rows) - len(higher)} of {len(rows)}" + not_on(higher),
            not higher,
        ),
    ]
    return table(header, lines), verdicts


def scale(rows: list[Row]) -> Section:
    return Section.of_parts("Scale", SCALE, rows, {"families": _families, "shapes": _shapes})


def _families(rows: list[Row]) -> tuple[str, list[Verdict]]:
    largest = max(row["asked"] for row in rows)
    lines, powers, memory, failed = [], [], [], []
    for (name, order, form), group in grouped(
        sorted(rows, key=lambda r: (r["graph"], r["order"], r["form"], r["asked"])),
        "graph",
        "order",
        "form",
    ):
        label = f"{name}, {order}, {'sepool.Graph' if form == 'graph' else 'edge array'}"
        cells = [
            seconds(r["seconds"]) if "seconds" in r else f"over {r['over']:g} s" for r in group
        ]
        done = [row for row in group if "seconds" in row]
        if len(done) < len(group):
            failed.append(label)
            lines.append([label, *cells, "", ""])
            continue
        power, per_edge = exponent(done[0], done[-1]), done[-1]["bytes_per_edge"]
        lines.append([label, *cells, f"{power:.2f}", f"{per_edge:.0f}"])
        powers.append((power, label))
        memory.append((per_edge, label))
    sizes = sorted({row["asked"] for row in rows})
    header = ["graph", *(f"{count(size)} edges" for size in sizes), "exponent", "bytes an edge"]
    steepest = max(powers, default=(float("inf"), "nothing measured"))
    fattest = max(memory, default=(float("inf"), "nothing measured"))
    verdicts = [
        Verdict(
            f"`fast` grows no faster than m^{STEEPEST} from {count(sizes[0])} to "
            f"{count(sizes[-1])} edges",
            f"m^{steepest[0]:.2f} at worst ({steepest[1]})" + not_on(failed),
            not failed and steepest[0] <= STEEPEST,
        ),
        Verdict(
            f"`fast` on {count(largest)} edges under {LEAN} bytes an edge above the input",
            f"{fattest[0]:.0f} bytes at worst ({fattest[1]})" + not_on(failed),
            not failed and fattest[0] < LEAN,
        ),
    ]
    return table(header, lines), verdicts


def _shapes(rows: list[Row]) -> tuple[str, list[Verdict]]:
    lines, bad = [], []
    for (name, method), group in grouped(rows, "graph", "method"):
        done = [row for row in group if "seconds" in row]
        size = f"{count(group[-1]['nodes'])} nodes"
        if len(done) < len(group):
            lines.append([name, method, size, f"over {group[-1]['over']:g} s", "", ""])
            bad.append(f"{name} ({method})")
            continue
        ratios = [b["seconds"] / a["seconds"] for a, b in pairwise(done)]
        power = exponent(done[0], done[-1])
        steps = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        lines.append([name, method, size, seconds(done[-1]["seconds"]), steps, f"{power:.2f}"])
        if power >= QUADRATIC:
            bad.append(f"{name} ({method})")
    header = ["shape", "method", "largest", "time", "time ratio at each doubling", "exponent"]
    cases = len(lines)
    verdict = Verdict(
        "no quadratic case among the shapes, each method",
        f"{cases - len(bad)} of {cases}" + not_on(bad),
        not bad,
    )
    return table(header, lines), [verdict]


SPEED = """\
One thread for everyone. The programs take turns, round after round, and medians are compared, \
so that a busy machine hurts all alike. Against tgp SEP (two pooling levels, so height 3) sepool \
starts from plain edge arrays and the selector from its tensors. On large graphs (random node \
ids) every program gets its own graph object, built before the clock starts; the last column \
also charges sepool for reading an edge array. Numbers in brackets are H at height 2. Molecules \
are random rings with side chains, all in one call. Infomap runs with two levels and one trial."""

SCALE = """\
Every measurement is a fresh process. The exponent p of m^p is taken between the smallest and \
the largest graph. Bytes an edge are the process's peak memory during the call minus its \
resident memory just before, when only Python, sepool and the input (a `sepool.Graph`, or an \
int64 edge array) are loaded; for the largest graph. Each family is measured in the order its \
generator makes (neighbours have close ids) and under random ids. Shapes double their nodes \
three times (complete graphs their edges); an exponent below 1.5 in the number of edges counts \
as not quadratic."""
