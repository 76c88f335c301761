"""Files of modules, by the format's description and by Infomap itself where it is installed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

import sepool
from sepool import CodingTree

LINE = re.compile(r'(?P<path>\d+(?::\d+)*) (?P<flow>\S+) "(?P<name>[^"]*)" (?P<id>\d+)')


@pytest.fixture
def graph() -> nx.Graph:
    graph = nx.planted_partition_graph(8, 12, 0.6, 0.02, seed=3)
    return nx.relabel_nodes(graph, {i: 1000 - i for i in graph})


@pytest.fixture
def tree(graph) -> CodingTree:
    return sepool.coding_tree(graph, height=4)


def rows(path: Path) -> list[list[str]]:
    lines = path.read_text().splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


def is_same_partition(one: list[object], two: list[object]) -> bool:
    return len(set(zip(one, two, strict=True))) == len(set(one)) == len(set(two))


def test_clu_has_the_coarsest_level(tmp_path, tree):
    tree.save(tmp_path / "x.clu")
    body = rows(tmp_path / "x.clu")
    assert [int(row[0]) for row in body] == list(tree.names)
    assert [int(row[1]) - 1 for row in body] == tree.labels(3).tolist()
    flow = tree.volumes(0) / tree.volumes(0).sum()
    assert [float(row[2]) for row in body] == pytest.approx(flow.tolist())
    comments = [line for line in (tmp_path / "x.clu").read_text().splitlines() if line[0] == "#"]
    assert comments[1] == f"# partitioned into 4 levels with {tree.num_clusters(3)} top modules"
    assert comments[-2:] == ["# module level 3", "# node_id module flow"]


def test_clu_of_another_level_is_that_of_at(tmp_path, tree):
    tree.at(1).save(tmp_path / "x.clu")
    assert [int(row[1]) - 1 for row in rows(tmp_path / "x.clu")] == tree.labels(1).tolist()


def test_clu_without_clusters_has_one_module(tmp_path, bridge):
    sepool.coding_tree(bridge, height=1).save(tmp_path / "x.clu")
    assert {row[1] for row in rows(tmp_path / "x.clu")} == {"1"}


def test_clu_without_edges_has_no_flow(tmp_path):
    tree = sepool.coding_tree(sepool.as_graph([(0, 0)], num_nodes=2), height=1)
    tree.save(tmp_path / "x.clu")
    assert [row[2] for row in rows(tmp_path / "x.clu")] == ["0", "0"]


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (None, [0, 1, 2]),
        ((7, 3, 5), [7, 3, 5]),
        (("7", "3", "5"), [7, 3, 5]),
        (("ann", "bob", "cat"), [0, 1, 2]),
        ((7, 3, "bob"), [0, 1, 2]),
        ((7, "7", 3), [0, 1, 2]),
        ((-1, 0, 1), [0, 1, 2]),
        (("01", "1", "2"), [0, 1, 2]),
        ((True, False, 2), [0, 1, 2]),
    ],
)
@pytest.mark.parametrize("ending", ["clu", "tree"])
def test_node_ids_are_names_that_are_whole_numbers(tmp_path, names, ids, ending):
    path = tmp_path / f"x.{ending}"
    tree = CodingTree.from_levels([(0, 1), (1, 2)], [0, 0, 1])
    replace(tree, names=names).save(path)
    written = [int(row[0 if ending == "clu" else -1]) for row in rows(path)]
    assert sorted(written) == sorted(ids)
    assert ("order of the graph" in path.read_text()) == (ids == [0, 1, 2] and names is not None)


def test_tree_paths_nest_as_the_levels(tmp_path, tree):
    tree.save(tmp_path / "x.tree")
    text = (tmp_path / "x.tree").read_text()
    lines = [LINE.fullmatch(line) for line in text.splitlines() if line[0] != "#"]
    assert all(lines)
    by_id = {int(match["id"]): match for match in lines if match}
    paths = [tuple(map(int, by_id[name]["path"].split(":"))) for name in tree.names]
    assert {len(path) for path in paths} == {tree.height}
    assert len(set(paths)) == tree.num_nodes
    for level in range(1, tree.height):
        prefixes = [path[: tree.height - level] for path in paths]
        assert is_same_partition(prefixes, tree.labels(level).tolist())
    assert [path[0] - 1 for path in paths] == tree.labels(tree.top).tolist()
    assert [by_id[name]["name"] for name in tree.names] == list(map(str, tree.names))
    in_file = [tuple(map(int, match["path"].split(":"))) for match in lines if match]
    assert in_file == sorted(in_file)
    for length in range(tree.height):  # siblings are numbered from 1 without gaps
        children: dict[tuple[int, ...], set[int]] = {}
        for path in paths:
            children.setdefault(path[:length], set()).add(path[length])
        assert all(ranks == set(range(1, len(ranks) + 1)) for ranks in children.values())
    flows = [float(match["flow"]) for match in lines if match]
    assert sum(flows) == pytest.approx(1)


@pytest.mark.parametrize("name", ['say "hi"', "two\nlines"])
def test_tree_names_with_quotes_or_line_breaks_are_refused(tmp_path, name):
    tree = CodingTree.from_levels(nx.Graph([("a", name)]), [0, 0])
    with pytest.raises(ValueError, match=r"a \.tree file cannot hold"):
        tree.save(tmp_path / "x.tree")


@pytest.mark.parametrize("ending", ["clu", "tree"])
@pytest.mark.filterwarnings("ignore")
def test_infomap_reads_the_clusters(tmp_path, graph, tree, ending):
    infomap = pytest.importorskip("infomap")
    nx.write_edgelist(graph, tmp_path / "graph.net", data=False)
    tree.save(tmp_path / f"x.{ending}")
    reader = infomap.Infomap(f"--silent --no-infomap --cluster-data {tmp_path}/x.{ending}")
    reader.read_file(str(tmp_path / "graph.net"))
    reader.run()
    reader.write_clu(str(tmp_path / "back.clu"))
    modules = {int(row[0]): row for row in rows(tmp_path / "back.clu")}
    back = [modules[name][1] for name in tree.names]
    assert is_same_partition(back, tree.labels(tree.top).tolist())
    flow = tree.volumes(0) / tree.volumes(0).sum()
    assert [float(modules[name][2]) for name in tree.names] == pytest.approx(flow, abs=1e-5)
