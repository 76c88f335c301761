"""A small dataset of random graphs with trees, as `GraphSet` and as PyG data."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np

from sepool.pyg.format import EdgeBlocks, Forest
from sepool.segments import pointers
from sepool_experiments.data.graphs import GraphSet


def graph_set(count=24, seed=0, labels=True):
    """Return random graphs of 1 to 18 nodes, some with isolated nodes, one without edges."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 19, count)
    sizes[0] = 1
    parts = []
    for i, size in enumerate(sizes):
        graph = nx.gnp_random_graph(int(size), 0.3, seed=i)
        edges = np.array(list(graph.edges), np.int64).reshape(-1, 2)
        both = np.concatenate([edges, edges[:, ::-1]])
        parts.append(both[np.lexsort((both[:, 1], both[:, 0]))])
    counts = np.array([len(part) for part in parts])
    row, col = np.concatenate(parts).T
    tags = rng.integers(0, 3, sizes.sum()) if labels else None
    y = rng.integers(0, 2, count)
    y[:2] = 0, 1
    return GraphSet("SMALL", sizes, EdgeBlocks(counts, row, col), tags, y)


def write_files(root, graphs, labels):
    """Write graphs, as pairs of edges and size, and ten folds as the files of MUTAG."""
    raw, splits = root / "TU" / "MUTAG" / "raw", root / "splits" / "MUTAG"
    raw.mkdir(parents=True)
    splits.mkdir(parents=True)
    pairs, owner = [], []
    for number, (edges, size) in enumerate(graphs, 1):
        first = len(owner) + 1
        pairs += [f"{first + a}, {first + b}" for u, v in edges for a, b in ((u, v), (v, u))]
        owner += [number] * size
    classes = [1, -1] * (len(graphs) // 2)
    files = {"A": pairs, "graph_indicator": owner, "graph_labels": classes, "node_labels": labels}
    for name, lines in files.items():
        (raw / f"MUTAG_{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    for fold in range(10):
        (splits / f"test_idx-{fold + 1}.txt").write_text(f"{fold}\n{fold + 10}\n")
    return root


def forest(graphs, height=3):
    """Return the trees of a dataset."""
    import sepool

    ends = pointers(graphs.edges.counts)
    pairs = np.column_stack([graphs.edges.row, graphs.edges.col])
    lists = [pairs[a:b][pairs[a:b, 0] < pairs[a:b, 1]] for a, b in pairwise(ends)]
    batch = sepool.as_graph_batch(lists, num_nodes=graphs.nodes.tolist())
    return Forest.of(sepool.coding_trees(batch, height))


def pyg_graphs(graphs, trees):
    """Return the graphs as a list of PyG ``Data``."""
    import torch
    from torch_geometric.data import Data

    from sepool.pyg.format import pack_blocks

    blocks = pack_blocks(trees, graphs.edges).tensors()
    nodes, edges = pointers(graphs.nodes), pointers(graphs.edges.counts)
    x = torch.from_numpy(graphs.features())
    pairs = torch.from_numpy(np.stack([graphs.edges.row, graphs.edges.col]))
    return [
        Data(
            x=x[nodes[i] : nodes[i + 1]],
            edge_index=pairs[:, edges[i] : edges[i + 1]],
            y=torch.tensor([int(graphs.y[i])]),
            tree=blocks[i],
        )
        for i in range(len(graphs.y))
    ]


def replica_batch(model, data):
    """Return a batch of PyG graphs as the input of a single SEPG."""
    from sepool.pyg.hierarchy import hierarchy
    from sepool_experiments.layers.adjacency import Adjacency, pooled_adjacency
    from sepool_experiments.layers.replica_batch import ReplicaBatch
    from sepool_experiments.layers.segments import segment_sum

    tree = hierarchy(data)
    nodes = Adjacency.from_edges(data.edge_index, None, data.num_nodes, tree.edge_layout)
    pooled = [pooled_adjacency(tree, level, model.binary) for level in range(1, tree.height)]
    operators = {i: model.convs[0].prepare(a) for i, a in enumerate([nodes, *pooled])}
    sums = segment_sum(data.x, tree.graph_ptr(0)) if model.input_link else None
    return ReplicaBatch(data.x, False, tree, operators, sums)


def outputs_and_gradients(model, store, ids):
    """Return the outputs of a model for a batch, and the gradient of every parameter."""
    batch = store.batch(ids, store.capacity(ids))
    model.zero_grad()
    out = batch.by_replica(model(batch))
    out.square().sum().backward()
    return [out.detach(), *(parameter.grad.clone() for parameter in model.parameters())]
