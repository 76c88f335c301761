"""Write the first files of the fuzzer's corpus: ``python tests/fuzz/seeds.py``, from the root."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import scipy.io
import scipy.sparse
import torch
from pyarrow import parquet
from torch_geometric.data import Data

import sepool
from sepool.files.archive import write_archive
from sepool.pyg.cache import FORMAT, VERSION, pack_forest
from sepool.pyg.format import Forest

CORPUS = Path(__file__).with_name("corpus")
TRIANGLES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
TEXTS = {
    "graph-edgelist": ["0 1\n1 2 0.5\n", "# nodes\nann,bob,2\ncleo\n", '"New York"\tParis\n'],
    "edges": ["0 1\n1 2\n", "0,1,2.5\n1,2,1e-3\n", "a b 1\nc\n", "% 1\n01 2\n-3 +4\n"],
    "graph-csv": ["source;target;weight\na;b;0,5\nb;c;1,5\n", "from,to\n1,2\n2,3\n"],
    "graph-content": ["0 1 {'weight': 2}\n", "%%MatrixMarket matrix coordinate\n", "*Vertices 2\n"],
    "graph-adjlist": ["0 1 2\n1 2\n2\n"],
    "graph-pajek": ['*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2 2\n2 3 1\n'],
    "clusters-table": ["node,level_1,level_2\n0,a,x\n1,a,x\n2,b,x\n3,b,x\n"],
    "clusters-infomap-clu": ["# node_id module flow\n0 1 0.25\n1 1 0.25\n2 2 0.25\n3 2 0.25\n"],
    "clusters-infomap-tree": [
        '# path flow name node_id\n1:1 0.25 "0" 0\n1:2 0.25 "1" 1\n2:1 0.25 "2" 2\n2:2 0.25 "3" 3\n'
    ],
    "clusters-pajek": ["*Vertices 4\n1\n1\n2\n2\n"],
    "clusters-labels": ["1\n1\n2\n2\n"],
    "clusters-communities": ["0 1\n2 3\n"],
    "clusters-auto": ["0 1\n2 3\n", "0,a\n1,a\n2,b\n3,b\n"],
}


def main() -> None:
    """Write a few valid files a target."""
    for target, texts in TEXTS.items():
        for number, text in enumerate(texts):
            seed(target, number).write_text(text)
    write_graphs()
    tree = sepool.coding_tree(TRIANGLES, 3)
    for ending in (".json", ".npz"):
        tree.save(seed(f"tree-{ending[1:]}", 0, ending))
    data = Data(edge_index=torch.tensor(TRIANGLES + [(v, u) for u, v in TRIANGLES]).T)
    data.x = torch.eye(6)
    for number, graphs in enumerate(([data], sepool.AddCodingTree(2).apply_all([data, data]))):
        sepool.save_graphs(seed("dataset", number), graphs)
    trees = sepool.coding_trees([[(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2)]], 3)
    write_archive(seed("cache", 0), FORMAT, VERSION, pack_forest(Forest.of(trees)))


def write_graphs() -> None:
    """Write a graph of two triangles in every format of a library."""
    graph = nx.Graph(TRIANGLES)
    nx.set_edge_attributes(graph, 2.0, "weight")
    nx.write_graphml(graph, seed("graph-graphml", 0))
    nx.write_gml(graph, seed("graph-gml", 0))
    nx.write_gexf(graph, seed("graph-gexf", 0))
    matrix = nx.to_scipy_sparse_array(graph)
    scipy.io.mmwrite(seed("graph-mtx", 0, ".mtx"), matrix)
    scipy.sparse.save_npz(seed("graph-npz", 0, ".npz"), matrix)
    seed("graph-gzip", 0).write_bytes(gzip.compress(b"0 1\n1 2\n", mtime=0))
    table = pa.table({"source": np.array([0, 1]), "target": np.array([1, 2])})
    parquet.write_table(table, seed("graph-parquet", 0))
    with pa.ipc.new_file(str(seed("graph-arrow", 0)), table.schema) as file:
        file.write_table(table)


def seed(target: str, number: int, ending: str = "") -> Path:
    """Return the path of a file of the corpus."""
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"seed-{number}{ending}"


if __name__ == "__main__":
    sys.exit(main())
