"""The sections of the page about training."""

from __future__ import annotations

from page import Section, Verdict, count, seconds, table
from results import Row

EPOCH, STEP, LOGITS = 1.3, 1.5, 1e-4
TREE_CONV = 1.6
LOCKSTEP, FASTER = 240, 50


def epoch(rows: list[Row]) -> Section:
    lines, verdicts = [], []
    for row in rows:
        ratio = _ratio(row)
        lines.append(_line(row, ratio))
        target = f"an epoch of SEP-G on the CPU at most {EPOCH} times one of a plain GCN"
        verdicts.append(Verdict(target, f"{ratio:.2f}x on {row['graph']}", ratio <= EPOCH))
    header = ["one epoch, one thread", "hidden", "batch", "SEP-G", "plain GCN", "ratio"]
    return Section("Training on the CPU", CPU, [table(header, lines)], verdicts)


def tree_conv(rows: list[Row]) -> Section:
    lines, verdicts = [], []
    for row in rows:
        tree, flat = row["seconds"]["tree"], row["seconds"]["flat"]
        ratio, size = f"{tree / flat:.2f}x", f"{row['graphs']:,}"
        spent = [seconds(tree), seconds(flat)]
        lines.append([row["graph"], size, row["hidden"], row["batch"], *spent, ratio])
        target = f"an epoch along trees at most {TREE_CONV} times one without"
        verdicts.append(Verdict(target, f"{ratio} on {row['graph']}", tree <= TREE_CONV * flat))
    header = ["one epoch, one thread", "graphs", "hidden", "batch", "height 3", "height 0", "ratio"]
    return Section("Layers that keep the nodes", TREES, [table(header, lines)], verdicts)


def epoch_cuda(rows: list[Row]) -> Section:
    lines, verdicts, bits = [], [], []
    for row in rows:
        if row["part"] == "step":
            ratio = _ratio(row)
            lines.append(_line(row, ratio))
            target = f"a step of SEP-G on a GPU at most {STEP} times one of a plain GCN"
            verdicts.append(Verdict(target, f"{ratio:.2f}x on {row['graph']}", ratio <= STEP))
        elif row["part"] == "logits":
            measured = f"{row['share']:.1e} (the largest logit is {row['largest']:.3g})"
            target = f"logits of GPU and CPU within {LOGITS:g}"
            verdicts.append(Verdict(target, measured, row["share"] <= LOGITS))
        else:
            bits.append([row["model"], row["steps"], "yes" if row["identical"] else "no"])
            if row["model"] == "SEP-G":
                target = "two runs of SEP-G on a GPU have the same bits"
                verdicts.append(Verdict(target, bits[-1][2], row["identical"]))
    header = ["one step", "hidden", "batch", "SEP-G", "plain GCN", "ratio"]
    tables = [table(header, lines), table(["two runs", "steps", "same bits"], bits)]
    return Section("Training on a GPU", CUDA, tables, verdicts)


def lockstep(rows: list[Row]) -> Section:
    lines, kernels, verdicts = [], [], []
    for row in rows:
        if row["part"] == "kernels":
            kernels.append([row["dataset"], f"{100 * row['share']:.0f} %", f"{row['gib']:.1f} GiB"])
            continue
        ratio = row["alone"] / row["lockstep"]
        spent = [seconds(row["lockstep"]), seconds(row["alone"])]
        lines.append([", ".join(row["datasets"]), f"{row['trainings']:,}", *spent, f"{ratio:.0f}x"])
        many = f"{row['trainings']:,} trainings of SEP-G on one GPU"
        met = row["lockstep"] <= LOCKSTEP
        verdicts += [
            Verdict(f"{many} in at most {LOCKSTEP} s", f"{row['lockstep']:.0f} s", met),
            Verdict(f"{many} at least {FASTER} times the throughput of one after another",
                    f"{ratio:.0f}x", ratio >= FASTER),
        ]  # fmt: skip
    header = ["datasets", "trainings", "in lockstep", "one after another", "ratio"]
    tables = [table(header, lines), table(["dataset", "time in kernels", "memory"], kernels)]
    return Section("Many trainings on one GPU", LOCKSTEP_TEXT, tables, verdicts)


def systems_cuda(rows: list[Row]) -> Section:
    return Section("Cost of every system on a GPU", SYSTEMS, _tables(rows), [])


def _tables(rows: list[Row]) -> list[str]:
    """One table for every number of trainings at once: time and memory, a column a dataset."""
    made = []
    for replicas in dict.fromkeys(row["replicas"] for row in rows):
        mine = [row for row in rows if row["replicas"] == replicas]
        graphs = list(dict.fromkeys(row["graph"] for row in mine))
        found = {(row["system"], row["graph"]): row for row in mine}
        lines = []
        for system in dict.fromkeys(row["system"] for row in mine):
            own = [found.get((system, graph)) for graph in graphs]
            some = next(row for row in own if row)
            cells = [text for row in own for text in _cells(row)]
            lines.append([system, count(some["weights"]), *cells])
        head = "one training" if replicas == 1 else f"{replicas:,} trainings at once"
        titles = [title for graph in graphs for title in (graph, "memory")]
        made.append(table([head, "weights", *titles], lines))
    return made


def _cells(row: Row | None) -> tuple[str, str]:
    if row is None:
        return "", ""
    return seconds(row["seconds"]), f"{row['mib']:,.0f} MiB"


def _ratio(row: Row) -> float:
    spent = row["seconds"]
    return float(spent["SEP-G"] / spent["plain GCN"])


def _line(row: Row, ratio: float) -> list[str]:
    spent = [seconds(row["seconds"][name]) for name in ("SEP-G", "plain GCN")]
    return [row["graph"], row["hidden"], row["batch"], *spent, f"{ratio:.2f}x"]


CPU = """\
An epoch with the stock loader, forward, backward and Adam. The plain GCN has three of PyG's GCN \
layers, a sum over the nodes and the perceptron of SEP-G; it sees the same graphs without trees. \
The two take turns, and medians are compared."""

TREES = """\
An epoch of `SEPGraphNet` with three layers of `TreeConv` along trees of height 3, against the \
same stack of equal width with `height=0`, bare convolutions: loader, forward, backward and Adam. \
The two take turns, and medians of five epochs are compared."""

CUDA = """\
A step is forward, backward and Adam on a batch that is on the GPU, over all batches of an epoch. \
Logits are compared after an epoch of training, over all graphs; a difference counts as a share \
of the logit where that is above 1. Two runs with one seed are compared weight by weight."""

LOCKSTEP_TEXT = """\
SEP-G over 16 configurations, 5 seeds and 10 folds a dataset, with early stopping, by the engine \
`replicas`. One after another is timed on a sample: epochs of the same trainings in plain PyG (the \
stock loader, PyG's own convolution) for every dataset, width and batch size, times the epochs \
that the trainings took. Kernels and memory: one epoch of 200 replicas, hidden 64, batch 128."""

SYSTEMS = """\
One epoch of table 1 (50 batches, or a pass over the data) without validation: hidden 64, batch \
128, the engine `replicas`, the fastest of a few epochs. Weights are those of one training on the \
first dataset; the time is that of all trainings together. Memory is the peak that PyTorch \
allocated."""
