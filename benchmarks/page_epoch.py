"""The section of the page about training."""

from __future__ import annotations

from page import Section, Verdict, seconds, table
from results import Row

EPOCH, STEP, LOGITS = 1.3, 1.5, 1e-4


def epoch(rows: list[Row]) -> Section:
    lines, verdicts = [], []
    for row in rows:
        ratio = _ratio(row)
        lines.append(_line(row, ratio))
        target = f"an epoch of SEP-G on the CPU at most {EPOCH} times one of a plain GCN"
        verdicts.append(Verdict(target, f"{ratio:.2f}x on {row['graph']}", ratio <= EPOCH))
    header = ["one epoch, one thread", "hidden", "batch", "SEP-G", "plain GCN", "ratio"]
    return Section("Training on the CPU", CPU, [table(header, lines)], verdicts)


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

CUDA = """\
A step is forward, backward and Adam on a batch that is on the GPU, over all batches of an epoch. \
Logits are compared after an epoch of training, over all graphs; a difference counts as a share \
of the logit where that is above 1. Two runs with one seed are compared weight by weight."""
