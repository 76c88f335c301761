"""Same graph and features, other node order: are the logits of SEP-G the same?

- logits: the graphs of a dataset whose logits change by more than 1e-4 under permutations
- time:   processor time of the trees of a dataset, with ties broken by features and by structure

Proposition 2 of the paper, SEP(A, H) = SEP(PAP', PH), for models: nodes and edges are permuted,
features go with them, and an untrained SEP-G in double precision reads trees of height 3 that are
built anew. A difference counts as a share of the logit where that is above 1.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from graphs import MissingDataError
from pyg import Clocked, tu
from results import Recorder, parser, root_of
from timing import Contender, take_turns

PARTS = ("logits", "time")
TIES = ("features", "structure")
LABELS, ATTRIBUTES = "node labels", "node labels and attributes"
LOGITS = (
    ("MUTAG", LABELS),
    ("PTC_MR", LABELS),
    ("NCI1", LABELS),
    ("PROTEINS", LABELS),
    ("PROTEINS", ATTRIBUTES),
    ("ENZYMES", LABELS),
    ("ENZYMES", ATTRIBUTES),
)
TIMED = ("PROTEINS", "NCI1")
HEIGHT, HIDDEN, CLASSES, BATCH = 3, 32, 2, 256
TOLERANCE = 1e-4


def features_of(name: str, features: str, root: Path | None) -> list[Any]:
    """The graphs of a dataset with their features alone."""
    from torch_geometric.data import Data

    dataset = tu(name, root, use_node_attr=features == ATTRIBUTES)
    return [
        Data(x=g.x.double(), edge_index=g.edge_index, edge_attr=g.edge_attr, num_nodes=g.num_nodes)
        for g in dataset
    ]


def permuted(graph: Any, generator: Any) -> Any:
    """The graph with its nodes and edges in another order."""
    import torch
    from torch_geometric.data import Data

    order = torch.randperm(graph.num_nodes, generator=generator)
    edges = torch.randperm(graph.num_edges, generator=generator)
    return Data(
        x=graph.x[order],
        edge_index=order.argsort()[graph.edge_index][:, edges],
        edge_attr=None if graph.edge_attr is None else graph.edge_attr[edges],
        num_nodes=graph.num_nodes,
    )


def logits(model: Any, graphs: list[Any], ties: str) -> Any:
    """The logits of a model along trees that are built anew."""
    import torch
    from torch_geometric.loader import DataLoader

    import sepool

    graphs = sepool.AddCodingTree(HEIGHT, ties=ties, progress=False).apply_all(graphs)
    with torch.no_grad():
        return torch.cat([model(batch) for batch in DataLoader(graphs, BATCH)])


def changes(graphs: list[Any], ties: str, permutations: int) -> list[float]:
    """The largest change of the logits of every graph."""
    import torch

    from sepool.nn import SEPG

    torch.manual_seed(0)
    model = SEPG(graphs[0].num_features, HIDDEN, CLASSES, height=HEIGHT).double().eval()
    generator = torch.Generator().manual_seed(0)
    first = logits(model, graphs, ties)
    largest = torch.zeros(len(graphs), dtype=torch.double)
    for _ in range(permutations):
        again = logits(model, [permuted(graph, generator) for graph in graphs], ties)
        share = (again - first).abs() / first.abs().clamp(min=1)
        largest = largest.maximum(share.amax(1))
    return largest.tolist()


def measure_logits(out: Recorder, root: Path | None, quick: bool) -> None:
    permutations = 2 if quick else 5
    for name, features in LOGITS:
        try:
            graphs = features_of(name, features, root)
        except MissingDataError as error:
            print(error)
            continue
        graphs = graphs[:200] if quick else graphs
        changed, largest = {}, {}
        for ties in TIES:
            shares = changes(graphs, ties, permutations)
            changed[ties] = sum(share > TOLERANCE for share in shares)
            largest[ties] = max(shares)
        row = {"part": "logits", "graph": name, "features": features, "graphs": len(graphs)}
        out.add(**row, permutations=permutations, changed=changed, largest=largest)


def measure_time(out: Recorder, root: Path | None, quick: bool) -> None:
    import sepool

    for name in TIMED:
        try:
            dataset = tu(name, root)
        except MissingDataError as error:
            print(error)
            continue
        dataset = dataset[:200] if quick else dataset
        options = {"num_threads": 1, "progress": False}
        work = {
            ties: Clocked(
                partial(sepool.AddCodingTree(HEIGHT, ties=ties, **options).apply_all, dataset)
            )
            for ties in TIES
        }
        take_turns([Contender(ties, solve) for ties, solve in work.items()], 2 if quick else 7, 90)
        processor = {ties: min(solve.samples) for ties, solve in work.items()}
        rounds = {ties: len(solve.samples) for ties, solve in work.items()}
        row = {"part": "time", "graph": name, "graphs": len(dataset), "height": HEIGHT}
        out.add(**row, processor=processor, rounds=rounds)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    arguments = options.parse_args()
    root, quick = root_of(arguments), arguments.quick
    out = Recorder(__file__, quick, arguments.parts)
    if "logits" in arguments.parts:
        measure_logits(out, root, quick)
    if "time" in arguments.parts:
        measure_time(out, root, quick)


if __name__ == "__main__":
    main()
