"""The quality sections of the page: entropy, gap to the optimum, node order."""

from __future__ import annotations

from page import Section, Verdict, bits, columns, grouped, not_on, percent, table
from results import Row

TOLERANCE = 1e-9


def entropy(rows: list[Row]) -> Section:
    single = [row for row in rows if row["kind"] == "graph"]
    datasets = [row for row in rows if row["kind"] == "dataset"]
    methods = columns(single, "entropy")
    lines, behind = [], []
    for row in single:
        found = row["entropy"]
        least = min(found.values())
        if found["best"] > least + TOLERANCE:
            behind.append(f"{row['graph']} at height {row['height']}")
        known = "" if row["known"] is None else f"{row['known']:.3f}"
        lines.append(
            [row["graph"], row["height"], *(bits(found.get(m), least) for m in methods), known]
        )
    tables = [table(["graph", "height", *methods, "least known before"], lines)]
    known_rows = [row for row in single if row["known"] is not None]
    too_high = [
        f"{row['graph']} at height {row['height']} ({row['entropy']['best']:.4f})"
        for row in known_rows
        if round(row["entropy"]["best"], 3) > row["known"]
    ]
    verdicts = [
        Verdict(
            "`best` at least as low as every other method on every single graph",
            f"{len(single) - len(behind)} of {len(single)}{not_on(behind)}",
            bool(single) and not behind,
        ),
        Verdict(
            "`best` reaches the least values known before (to three decimals)",
            f"{len(known_rows) - len(too_high)} of {len(known_rows)}{not_on(too_high)}",
            bool(known_rows) and not too_high,
        ),
    ]
    if datasets:
        tables.append(_dataset_table(datasets))
        verdicts += _dataset_verdicts(datasets)
    return Section("Entropy", ENTROPY, tables, verdicts)


def _dataset_table(rows: list[Row]) -> str:
    lines = []
    for (name, height), group in grouped(rows, "graph", "height"):
        least = min(row["mean"] - row["mean_best"] for row in group)
        cells = []
        for row in group:
            sample = "" if row["graphs"] == row["of"] else f" (best {row['mean_best']:.4f})"
            mean = bits(row["mean"] - row["mean_best"], least)
            mean = f"**{row['mean']:.4f}**" if mean.startswith("**") else f"{row['mean']:.4f}"
            lower = (
                f"; {row['lower_than_best']} of {row['graphs']}" if row["method"] != "best" else ""
            )
            cells.append(f"{mean}{sample}{lower}")
        lines.append([name, height, *cells])
    methods = list(dict.fromkeys(row["method"] for row in rows))
    return table(["dataset", "height", *methods], lines)


def _dataset_verdicts(rows: list[Row]) -> list[Verdict]:
    others = [row for row in rows if row["method"] != "best"]
    above = [
        f"{row['method']} on {row['graph']} at height {row['height']}"
        for row in others
        if row["mean"] < row["mean_best"] - TOLERANCE
    ]
    beaten = sum(row["lower_than_best"] for row in others)
    compared = sum(row["graphs"] for row in others)
    worst = max(row["most_below_best"] for row in others)
    lower = f"; elsewhere another method is lower, by at most {worst:.4f} bits" if beaten else ""
    return [
        Verdict(
            "mean H of `best` at least as low as every other method's on every TU dataset",
            f"{len(others) - len(above)} of {len(others)}{not_on(above)}",
            not above,
        ),
        Verdict(
            "`best` at least as low on every single graph of the TU datasets",
            f"{compared - beaten:,} of {compared:,} comparisons{lower}",
            not beaten,
        ),
    ]


def optimum(rows: list[Row]) -> Section:
    gaps = [row for row in rows if row["kind"] == "gap"]
    check = next(row for row in rows if row["kind"] == "check")
    methods = list(dict.fromkeys(row["method"] for row in gaps if row["graphs"]))
    lines = []
    for (name, height, judged), group in grouped(gaps, "dataset", "height", "judged"):
        by_method = {row.get("method"): row for row in group}
        cells = [
            f"{percent(by_method[m]['mean_gap'])} / {percent(by_method[m]['max_gap'])}"
            if m in by_method
            else "no graph"
            for m in methods
        ]
        lines.append([name + ("" if judged else " (extra)"), height, group[0]["graphs"], *cells])
    verdicts = []
    for height in (2, 3):
        chosen = [
            row
            for row in gaps
            if row["judged"] and row["height"] == height and row.get("method") == "best"
        ]
        graphs = sum(row["graphs"] for row in chosen)
        mean = sum(row["graphs"] * row["mean_gap"] for row in chosen) / max(graphs, 1)
        verdicts.append(
            Verdict(
                f"mean gap of `best` to the optimum at height {height} at most 0.5 % (aim 0.1 %)",
                f"{percent(mean)} over {graphs} graphs",
                graphs > 0 and mean <= 0.005,
            )
        )
    text = OPTIMUM.format(graphs=check["graphs"], worst=f"{check['worst']:.0e}")
    tables = [table(["dataset", "height", "graphs", *methods], lines)]
    return Section("Gap to the true optimum", text, tables, verdicts)


def relabel(rows: list[Row]) -> Section:
    lines, verdicts = [], []
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for (name, height, graphs), group in grouped(rows, "graph", "height", "graphs"):
        cells = {
            row["method"]: f"{row['same_tree']:,}" for row in group if row["same_tree"] is not None
        }
        cells |= {r["method"]: f"H {r['same_entropy']:,}" for r in group if r["same_tree"] is None}
        lines.append([name, height, f"{graphs:,}", *(cells.get(m, "") for m in methods)])
    ours = [row for row in rows if row["same_tree"] is not None]
    for (name, target), group in grouped(ours, "graph", "target"):
        share = min(row["same_tree"] / row["graphs"] for row in group)
        verdicts.append(
            Verdict(
                f"{name}: the same tree for at least {100 * target:g} % of the graphs, each method",
                f"{100 * share:.2f} % at worst",
                share >= target,
            )
        )
    text = RELABEL.format(permutations=rows[0]["permutations"] if rows else 0)
    header = ["dataset", "height", "graphs", *methods]
    return Section("Same graph, other node order", text, [table(header, lines)], verdicts)


def trees(rows: list[Row]) -> Section:
    kinds = columns(rows, "entropy")
    lines = []
    for row in rows:
        found = row["entropy"]
        cells = (bits(found[kind], min(found.values())) for kind in kinds)
        lines.append([row["dataset"], f"{row['graphs']:,}", f"{row['none']:.4f}", *cells])
    header = ["mean entropy", "graphs", "no tree", *kinds]
    text = TREES.format(height=rows[0]["height"] if rows else 0)
    return Section("Trees that SEP-G is trained along", text, [table(header, lines)], [])


def retrained(rows: list[Row]) -> Section:
    sides = columns(rows, "accuracy")
    lines = []
    for row in rows:
        cells = [f"{row['accuracy'][side]:.2f} ± {row['spread'][side]:.2f}" for side in sides]
        difference = f"{row['difference']:+.2f} ± {row['error']:.2f}"
        size = f"{row['folds']} x {row['seeds']}"
        lines.append([row["dataset"], size, *cells, difference, f"{row['p']:.2f}"])
    header = ["test accuracy", "folds x seeds", *sides, "difference", "p"]
    return Section(
        "Accuracy along the trees of two versions", RETRAINED, [table(header, lines)], []
    )


ENTROPY = """\
Structural entropy in bits, lower is better; the lowest of a row is bold. One plain NumPy \
evaluator (`score.py`), which follows the definition and shares no code with sepool, scores \
every method, sepool's own included. All programs run with their defaults and a fixed seed. \
Peers optimise other things (modularity, the map equation) or the same thing by other means (tgp \
SEP). What a peer offers is made a tree of the asked height as kindly as possible: tgp SEP is \
asked for that many levels; Infomap runs with two levels at height 2 and multilevel above; of \
Louvain's and Infomap's levels those are kept that score least; a plain partition is filled up, \
which changes nothing. Graphs are unweighted unless the name says so.

The TU table gives the mean H over a dataset's graphs, and after the semicolon the number of \
graphs on which that method is lower than `best` by more than 1e-9. tgp SEP is slow and sees a \
random sample of the larger datasets; the mean of `best` over the same graphs stands in \
brackets."""

OPTIMUM = """\
All graphs of at most ten nodes, solved exactly by dynamic programming over subsets of nodes \
(`optimum.py`). That program and an enumeration of all trees agree on {graphs} random graphs of \
up to five nodes (largest difference {worst}). The table gives mean / largest gap, (H - optimum) \
/ optimum. Datasets marked extra are not part of the target."""

TREES = """\
Mean structural entropy in bits over the graphs of a dataset that have an edge, by `score.py`, of \
trees of height {height}: `best`, `paper` (Algorithm 1 as written), `released` (torch-geometric-\
pool's port of the code released with the paper), `random` (`best` with its leaves permuted), and \
without any clusters."""

RELABEL = """\
Each graph is built again under {permutations} random permutations of its nodes and edges. H \
must agree to 1e-9 every time, and the trees must be isomorphic as rooted trees whose nodes \
carry their volume and boundary (decided exactly, no hashing). The table counts the graphs whose \
tree is the same every time; for tgp SEP, those whose H is the same, which is easier."""

RETRAINED = """\
SEP-G in one configuration (batch 32, dropout 0.5), along the trees of `best` of sepool 0.1.0 \
and of this version. Accuracies in percent, mean over seeds of the means over folds ± standard \
deviation over seeds; the difference with the standard error of the corrected resampled t-test \
over folds."""
