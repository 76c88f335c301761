from __future__ import annotations

import copy
import functools
import os
import pickle
import sys
import warnings
from pathlib import Path

import pytest
import torch
from tests import shapes
from tests.pyg_graphs import as_data, degenerate_graphs, dense, molecules, same_data
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.transforms import Compose, ToUndirected

from sepool import AddCodingTree, hierarchy
from sepool.pyg.hierarchy import DIRECTED, SORTED


class Molecules(InMemoryDataset):
    """Twelve graphs, processed as a user's dataset would be."""

    processed_file_names = "data.pt"

    def __init__(self, root, **transforms):
        super().__init__(root, log=False, **transforms)
        self.load(self.processed_paths[0])

    def process(self):
        graphs = molecules(12)
        if self.pre_transform is not None:
            graphs = [self.pre_transform(graph) for graph in graphs]
        self.save(graphs, self.processed_paths[0])


def cosine(data: Data) -> torch.Tensor:
    """Return the similarity of both ends of every edge, from 0 to 1."""
    row, col = data.edge_index
    return (1 + torch.nn.functional.cosine_similarity(data.x[row], data.x[col])) / 2


def tree(graph: Data, *options, **named) -> list[int]:
    return AddCodingTree(*options, **named)(graph).tree.tolist()


# As a transform of PyG


def test_call_does_not_change_the_graph():
    graph = molecules(1)[0]
    before = copy.deepcopy(graph)
    result = AddCodingTree()(graph)
    assert same_data(graph, before)
    assert result.tree.dtype == torch.int32
    assert result.x is graph.x


def test_transform_equals_pre_transform(tmp_path):
    add = AddCodingTree(3, "fast")
    plain = Molecules(tmp_path / "plain")
    late = Molecules(tmp_path / "late", transform=add)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        early = Molecules(tmp_path / "early", pre_transform=add)
        early = Molecules(tmp_path / "early", pre_transform=AddCodingTree(3, "fast"))
    for graph, a, b in zip(plain, late, early, strict=True):
        assert same_data(a, b)
        assert same_data(a, add(graph))


def test_pre_transform_other_height_warns(tmp_path):
    Molecules(tmp_path, pre_transform=AddCodingTree(3))
    with pytest.warns(UserWarning, match="pre_transform"):
        Molecules(tmp_path, pre_transform=AddCodingTree(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Molecules(tmp_path, pre_transform=AddCodingTree(3, num_threads=1, progress=False))


def test_compose_to_undirected_gives_sorted_edges():
    arc = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    assert hierarchy(Compose([ToUndirected(), AddCodingTree(2)])(arc)).edge_layout == SORTED


def test_call_pickled_transform_gives_equal_tree():
    add = AddCodingTree(3, "fast", seed=7, edge_weight=cosine)
    graph = molecules(1)[0]
    assert same_data(pickle.loads(pickle.dumps(add))(graph), add(graph))


def test_repr_lists_what_trees_depend_on():
    assert repr(AddCodingTree()) == (
        "AddCodingTree(height=3, method='best', seed=0, edge_weight='edge_weight', "
        "symmetrise=False, ties='features')"
    )
    other = AddCodingTree(
        2, "fast", seed=7, edge_weight=None, symmetrise=True, ties="structure", cache="x"
    )
    assert repr(other) == (
        "AddCodingTree(height=2, method='fast', seed=7, edge_weight=None, symmetrise=True, "
        "ties='structure')"
    )
    assert f"edge_weight={__name__}.cosine" in repr(AddCodingTree(edge_weight=cosine))


def test_call_int32_edges_give_equal_tree():
    graph = as_data(shapes.ring(7), 7)
    small = graph.clone()
    small.edge_index = small.edge_index.int()
    assert tree(small) == tree(graph)


# Whole datasets


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("height", [1, 2, 4])
def test_apply_all_equals_one_by_one(method, height):
    add = AddCodingTree(height, method)
    graphs = molecules(12) + degenerate_graphs()
    before = copy.deepcopy(graphs)
    result = add.apply_all(graphs)
    assert all(map(same_data, graphs, before))
    assert all(same_data(a, add(b)) for a, b in zip(result, graphs, strict=True))


def test_apply_all_trees_own_their_memory():
    small = AddCodingTree(2).apply_all(molecules(5))[0].tree
    assert small.untyped_storage().nbytes() == 4 * len(small)


def test_apply_all_threads_do_not_change_trees():
    graphs = molecules(30)
    one, two = (AddCodingTree(3, num_threads=n).apply_all(graphs) for n in (1, 2))
    assert all(map(same_data, one, two))


def test_apply_all_dataset_keeps_its_class(tmp_path):
    dataset = Molecules(tmp_path)
    result = AddCodingTree(3).apply_all(dataset)
    assert type(result) is Molecules
    assert "tree" not in dataset[0]
    assert result.num_classes == dataset.num_classes
    assert result._data.x is dataset._data.x
    for a, b in zip(result, dataset, strict=True):
        assert same_data(a, AddCodingTree(3)(b))
    assert same_data(result[[4, 2]][1], result[2])


@pytest.mark.parametrize("chosen", [[5, 3, 8], slice(2, 4), [6]])
def test_apply_all_subset_equals_one_by_one(tmp_path, chosen):
    part = Molecules(tmp_path)[chosen]
    result = AddCodingTree(3).apply_all(part)
    assert len(result) == len(part)
    for a, b in zip(result, part, strict=True):
        assert same_data(a, AddCodingTree(3)(b))


@pytest.mark.parametrize("weight", [None, "edge_weight", "strength", cosine])
def test_apply_all_weighted_dataset_equals_one_by_one(weight):
    graphs = molecules(6)
    for graph in graphs:
        graph.edge_weight = cosine(graph)
        graph.strength = 2 - cosine(graph)
        if weight is not cosine:
            del graph.x
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = InMemoryDataset.collate(graphs)
    add = AddCodingTree(3, edge_weight=weight)
    for a, b in zip(add.apply_all(dataset), graphs, strict=True):
        assert same_data(a, add(b))


def test_apply_all_empty_list_is_empty():
    assert AddCodingTree().apply_all([]) == []


def test_apply_all_shows_progress_on_a_terminal_only(monkeypatch, capsys):
    AddCodingTree().apply_all(molecules(3))
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    AddCodingTree(progress=False).apply_all(molecules(3))
    assert capsys.readouterr() == ("", "")
    AddCodingTree().apply_all(molecules(3))
    out, err = capsys.readouterr()
    assert out == ""
    assert "coding trees" in err


@pytest.mark.skipif(
    not Path(os.environ.get("SEPOOL_DATA", "."), "TU", "MUTAG", "raw").exists(),
    reason="needs MUTAG: set SEPOOL_DATA to a folder with TU/MUTAG/raw",
)
def test_apply_all_mutag_equals_pre_transform(tmp_path):
    from torch_geometric.datasets import TUDataset

    raw = Path(os.environ["SEPOOL_DATA"], "TU", "MUTAG", "raw")
    (tmp_path / "MUTAG").mkdir()
    (tmp_path / "MUTAG" / "raw").symlink_to(raw.resolve())
    early = TUDataset(str(tmp_path), "MUTAG", pre_transform=AddCodingTree(3, "fast"))
    late = AddCodingTree(3, "fast").apply_all(TUDataset(str(tmp_path), "MUTAG", force_reload=True))
    assert len(early) == 188
    assert all(map(same_data, early, late))


# Directed graphs


def test_call_directed_graph_needs_symmetrise():
    arcs = Data(edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 0, 2]]), num_nodes=4)
    with pytest.raises(ValueError, match="symmetrise=True"):
        AddCodingTree(2)(arcs)
    with pytest.raises(ValueError, match=r"graph 1.*symmetrise=True"):
        AddCodingTree(2).apply_all([molecules(1)[0], arcs])
    levels = hierarchy(AddCodingTree(2, symmetrise=True)(arcs))
    assert levels.edge_layout == DIRECTED
    s = torch.nn.functional.one_hot(levels.assignment(1)).double().t()
    pooled = dense(levels.edges[0], levels.weights[0], levels.num_clusters(1))
    assert torch.equal(pooled, s @ dense(arcs.edge_index, None, 4) @ s.t())


def test_call_directed_weights_need_symmetrise():
    graph = as_data([(0, 1), (1, 2)], 3, edge_weight=torch.tensor([1.0, 2, 1, 1]))
    with pytest.raises(ValueError, match="symmetrise=True"):
        AddCodingTree(2)(graph)
    assert hierarchy(AddCodingTree(2, edge_weight=None)(graph)).edge_layout == DIRECTED
    graph.edge_weight = torch.ones(4)
    assert hierarchy(AddCodingTree(2, edge_weight=None)(graph)).edge_layout == SORTED
    assert hierarchy(AddCodingTree(2, symmetrise=True)(graph)).edge_layout == SORTED


# Bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"height": 0}, ValueError, "height must be 1 to 64, got 0"),
        ({"edge_weight": 3}, TypeError, "the name of an attribute or a function, got 3"),
        ({"edge_weight": functools.partial(cosine, object())}, TypeError, "define it with def"),
    ],
)
def test_init_invalid_option_raises(options, error, message):
    with pytest.raises(error, match=message):
        AddCodingTree(**options)


EDGES = torch.tensor([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (Data(edge_index=EDGES), ValueError, "number of nodes is unknown.*data.num_nodes"),
        (Data(x=torch.ones(2, 1)), ValueError, "no edge_index"),
        (Data(edge_index=EDGES, num_nodes=1), ValueError, "1"),
        (Data(edge_index=-EDGES, num_nodes=2), ValueError, "-1"),
        (Data(edge_index=EDGES[:, :0], num_nodes=0), ValueError, "no nodes"),
        (Data(edge_index=EDGES.float(), num_nodes=2), ValueError, r"shape \(2, m\)"),
        (Data(edge_index=EDGES[0], num_nodes=2), ValueError, r"shape \(2, m\)"),
        (HeteroData(), TypeError, "homogeneous PyG Data, got HeteroData"),
        (Batch.from_data_list(molecules(2)), TypeError, "before the graphs are batched"),
        (
            as_data([(0, 1)], 2, edge_weight=torch.ones(3)),
            ValueError,
            r"edge_weight must be a tensor of shape \(2,\)",
        ),
        (as_data([(0, 1)], 2, edge_weight=-torch.ones(2)), ValueError, "-1"),
    ],
)
def test_call_invalid_graph_raises(graph, error, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=message):
            AddCodingTree(2)(graph)
        with pytest.raises(error, match=message):
            AddCodingTree(2).apply_all([molecules(1)[0], graph])


def test_apply_all_one_graph_raises():
    with pytest.raises(TypeError, match="for one graph call the transform itself"):
        AddCodingTree(2).apply_all(molecules(1)[0])


@pytest.mark.parametrize("graphs", [5, "graphs", {"a": 1}, EDGES, HeteroData()], ids=str)
def test_apply_all_no_list_raises(graphs):
    name = type(graphs).__name__
    with pytest.raises(TypeError, match=f"expected a list of graphs, got {name}"):
        AddCodingTree(2).apply_all(graphs)
