"""The section of the page about what every system for graphs costs."""

from __future__ import annotations

from page import Section, count, seconds, table
from results import Row


def systems(rows: list[Row]) -> Section:
    return Section("Cost of every system on the CPU", f"{TEXT} {CPU}", _tables(rows), [])


def systems_cuda(rows: list[Row]) -> Section:
    return Section("Cost of every system on a GPU", f"{TEXT} {CUDA}", _tables(rows), [])


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


TEXT = """\
One epoch of table 1 (50 batches, or a pass over the data) without validation: hidden 64, batch \
128, the engine `replicas`, the fastest of a few epochs. Weights are those of one training on the \
first dataset; the time is that of all trainings together."""
CPU = "One thread. Memory is by how much the process grew, each system in a process of its own."
CUDA = "Memory is the peak that PyTorch allocated."
