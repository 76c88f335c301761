"""torch-geometric-pool with the coding trees of this package."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.utils import erdos_renyi_graph, to_dense_adj

import sepool
from sepool.integrations import tgp as adapter
from sepool.nn import SEPooling

needs_tgp = pytest.mark.skipif(adapter.MISSING is not None, reason="needs torch-geometric-pool")
WITHOUT = """
import sys
sys.modules["tgp"] = None  # as if it were not installed
from sepool.integrations.tgp import CodingTreeSelect, coding_tree_pooling
for make in (CodingTreeSelect, coding_tree_pooling):
    try:
        make()
    except ImportError as error:
        print(error)
"""


@pytest.fixture
def batch():
    torch.manual_seed(0)
    graphs = []
    for size in (12, 1, 20, 5):
        edges = erdos_renyi_graph(size, 0.25)
        graphs.append(Data(x=torch.randn(size, 3), edge_index=edges, num_nodes=size))
    return Batch.from_data_list(sepool.AddCodingTree(3).apply_all(graphs))


def same_partition(a, b) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


@needs_tgp
def test_multi_level_select_equals_hierarchy(batch):
    levels = sepool.hierarchy(batch)
    outputs = adapter.CodingTreeSelect().multi_level_select(
        batch.edge_index, batch=batch.batch, num_nodes=batch.num_nodes, levels=2
    )
    assert [so.num_supernodes for so in outputs] == [levels.num_clusters(1), levels.num_clusters(2)]
    assert same_partition(outputs[0].cluster_index, levels.assignment(1))
    first, second = (so.cluster_index for so in outputs)
    assert same_partition(second[first], levels.assignment(2)[levels.assignment(1)])


@needs_tgp
def test_coding_tree_pooling_equals_dense_formulas(batch):
    pooler = adapter.coding_tree_pooling(remove_self_loops=False, degree_norm=False)
    ones = torch.ones(batch.num_edges)
    out = pooler(x=batch.x, adj=batch.edge_index, edge_weight=ones, batch=batch.batch)
    s = torch.nn.functional.one_hot(out.so.cluster_index).float()
    torch.testing.assert_close(out.x, s.t() @ batch.x)
    a = to_dense_adj(batch.edge_index, max_num_nodes=batch.num_nodes)[0]
    size = out.so.num_supernodes
    pooled = torch.zeros(size, size).index_put_(tuple(out.edge_index), out.edge_weight)
    torch.testing.assert_close(pooled, s.t() @ a @ s)
    torch.testing.assert_close(pooler(x=out.x, so=out.so, lifting=True), s @ out.x)
    assert torch.equal(out.batch[out.so.cluster_index], batch.batch)


@needs_tgp
def test_select_output_pools_like_sep_pooling(batch):
    from tgp.poolers import SEPPooling

    levels, x = sepool.hierarchy(batch), batch.x
    for level in (1, 2, 3):
        so = adapter.select_output(levels, level)
        pooled = SEPPooling().reduce(x=x, so=so, batch=levels.batch(level - 1))[0]
        x = SEPooling()(x, levels, level).x
        torch.testing.assert_close(pooled, x)
    with pytest.raises(ValueError, match="level must be 1 to 3"):
        adapter.select_output(levels, 4)


@needs_tgp
def test_pre_coarsening_has_levels_of_coding_tree(batch):
    from tgp.data.transforms import PreCoarsening

    pooler = adapter.coding_tree_pooling("fast")
    data = Data(x=batch[2].x, edge_index=batch[2].edge_index)
    levels = PreCoarsening(poolers=[pooler, pooler])(data).pooled_data
    tree = sepool.coding_tree(data, height=3, method="fast")
    assert [pooled.num_nodes for pooled in levels] == list(tree.counts[1:3])


@needs_tgp
def test_docstring_example_runs(batch):
    code = textwrap.dedent(adapter.__doc__.split("::\n", 1)[1].split("\n`released_trees`")[0])
    names = {"data": Data(x=batch[2].x, edge_index=batch[2].edge_index)}
    exec(code, names)
    assert names["x"].shape == (20, 3)
    assert len(names["data"].pooled_data) == 2


@needs_tgp
def test_select_weighted_arcs_change_clusters():
    select = adapter.CodingTreeSelect()
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])  # a ring of one-way streets
    for heavy in (0, 1):
        weight = torch.ones(4)
        weight[heavy], weight[heavy + 2] = 9, 9
        clusters = select(edge_index=edges, edge_weight=weight).cluster_index
        assert clusters[heavy] == clusters[heavy + 1]
        assert clusters[heavy] != clusters[heavy + 2]


@needs_tgp
def test_released_trees_equal_tgp_selector():
    from tgp import select

    edges = [np.array([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]), np.empty((0, 2))]
    trees = adapter.released_trees(edges, [6, 2], height=2)
    both = torch.from_numpy(np.concatenate([edges[0], edges[0][:, ::-1]]).T.copy())
    theirs = select.SEPSelect()(edge_index=both, num_nodes=6).cluster_index
    assert trees.height == 2
    assert same_partition(torch.from_numpy(trees[0].labels(1)), theirs)
    assert trees[0].entropy == pytest.approx(
        sepool.structural_entropy(edges[0].tolist(), theirs.tolist())
    )
    assert trees[1].counts == (2, 2, 1)
    deeper = adapter.released_trees(edges[:1], [6], height=3)
    assert deeper[0].counts[0] == 6
    assert deeper[0].height == 3


@needs_tgp
@pytest.mark.parametrize(("nodes", "entries"), [(3, 2), (2, 3), (0, 1)])
def test_select_batch_of_other_length_is_refused(nodes, entries):
    nothing, graph = torch.empty(2, 0, dtype=torch.long), torch.zeros(entries, dtype=torch.long)
    message = f"'batch' must have one entry a node, got {entries} for {nodes} nodes"
    with pytest.raises(ValueError, match=message):
        adapter.CodingTreeSelect()(edge_index=nothing, batch=graph, num_nodes=nodes)


@needs_tgp
def test_errors_and_repr_name_what_those_of_the_sep_selector_do(batch):
    from tgp.select import SEPSelect

    ours, theirs = adapter.CodingTreeSelect(), SEPSelect()
    assert isinstance(ours, SEPSelect)
    assert repr(theirs).removesuffix("()") in repr(ours)
    assert repr(ours) in repr(adapter.coding_tree_pooling())
    messages = []
    for select in (ours, theirs):
        with pytest.raises(ValueError, match="levels") as error:
            select.multi_level_select(batch.edge_index, levels=-1)
        messages.append(str(error.value).rstrip("."))
        with pytest.raises(ValueError, match="batch"):
            select(edge_index=batch.edge_index, batch=batch.batch[1:], num_nodes=batch.num_nodes)
    assert messages[0] == messages[1]


@needs_tgp
def test_select_graph_without_nodes_in_a_batch_is_skipped():
    edges = torch.tensor([[1, 2], [2, 1]])
    out = adapter.CodingTreeSelect()(edge_index=edges, batch=torch.tensor([0, 2, 2]))
    assert out.num_nodes == 3
    assert out.cluster_index[0] not in out.cluster_index[1:]


@needs_tgp
def test_select_degenerate_input_is_handled():
    select = adapter.CodingTreeSelect("fast", seed=3)
    assert repr(select) == "CodingTreeSelect(SEPSelect, method='fast', seed=3)"
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert select(edge_index=nothing, num_nodes=0).num_nodes == 0
    assert select(edge_index=nothing, num_nodes=3).num_nodes == 3
    assert select(edge_index=nothing).num_nodes == 0
    with pytest.raises(ValueError, match="'levels' must be >= 1, got 0"):
        select.multi_level_select(nothing, num_nodes=3, levels=0)
    with pytest.raises(ValueError, match="sorted by their graph"):
        select(edge_index=nothing, batch=torch.tensor([1, 0]))
    with pytest.raises(ValueError, match="method must be one of"):
        adapter.CodingTreeSelect("slow")


def test_missing_tgp_names_what_to_install():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    lines = run.stdout.splitlines()
    assert len(lines) == 2
    assert all("pip install --no-build-isolation torch-geometric-pool" in line for line in lines)
