from __future__ import annotations

import warnings
from itertools import pairwise

import networkx as nx
import pytest

import sepool
from sepool.integrations.networkx import (
    structural_entropy_communities,
    structural_entropy_partitions,
)


@pytest.fixture
def karate():
    return nx.karate_club_graph()


def test_communities_are_those_of_the_coarsest_level(karate):
    tree = sepool.coding_tree(karate, height=3, trials=2, seed=4)
    communities = structural_entropy_communities(karate, height=3, trials=2, seed=4)
    assert communities == tree.communities(2)
    assert nx.community.is_partition(karate, communities)


def test_partitions_are_nested_and_finest_first(karate):
    partitions = list(structural_entropy_partitions(karate, height=4))
    counts = [len(partition) for partition in partitions]
    assert counts == sorted(counts, reverse=True)
    assert len(partitions) == 3
    for fine, coarse in pairwise(partitions):
        assert all(any(part <= whole for whole in coarse) for part in fine)
    assert partitions[-1] == structural_entropy_communities(karate, height=4)


def test_communities_have_less_entropy_than_those_of_louvain(karate):
    communities = structural_entropy_communities(karate, height=2)
    louvain = nx.community.louvain_communities(karate, seed=1)
    bits = [sepool.structural_entropy(karate, each) for each in (communities, louvain)]
    assert bits[0] < bits[1]


def test_communities_of_noise_are_one():
    graph = nx.gnm_random_graph(200, 1200, seed=1)
    assert structural_entropy_communities(graph) == [set(graph)]
    assert list(structural_entropy_partitions(graph)) == [[set(graph)]]


def test_communities_without_edges_are_the_nodes():
    graph = nx.empty_graph("abc")
    assert structural_entropy_communities(graph) == [{"a"}, {"b"}, {"c"}]


def test_communities_num_clusters_is_their_number(karate):
    assert len(structural_entropy_communities(karate, num_clusters=5)) == 5


def test_communities_weight_names_the_attribute(karate):
    nx.set_edge_attributes(karate, 1, "one")
    plain = structural_entropy_communities(karate, weight=None, height=2)
    assert structural_entropy_communities(karate, "one", height=2) == plain
    assert structural_entropy_communities(karate, height=2) != plain


def test_communities_of_a_digraph_are_those_of_its_arcs(karate):
    arcs = nx.DiGraph(karate.edges)
    plain = structural_entropy_communities(karate, weight=None)
    assert structural_entropy_communities(arcs, symmetrise=True) == plain


class TestDispatch:
    def test_config_lists_the_backend(self):
        assert "sepool" in nx.config.backends

    @pytest.mark.parametrize("backend", ["sepool", "networkx", None])
    def test_backend_by_name_returns_the_same(self, karate, backend):
        plain = structural_entropy_communities.orig_func(karate, None, height=3)
        options = {"height": 3, "backend": backend}
        assert structural_entropy_communities(karate, weight=None, **options) == plain
        assert list(structural_entropy_partitions(karate, None, **options))[-1] == plain

    def test_backend_by_priority_returns_the_same(self, karate):
        plain = structural_entropy_communities(karate)
        with nx.config(backend_priority=["sepool"]):
            assert structural_entropy_communities(karate) == plain

    def test_backend_after_a_change_of_the_graph_reads_it_anew(self, karate):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            before = structural_entropy_communities(karate, backend="sepool")
            karate[0][1]["weight"] = 10_000
            after = structural_entropy_communities(karate, backend="sepool")
        assert after == structural_entropy_communities(karate) != before

    def test_backend_does_not_run_functions_of_networkx(self, karate):
        for function in (
            nx.community.louvain_communities,
            nx.community.greedy_modularity_communities,
            nx.community.leiden_communities,
        ):
            with pytest.raises(NotImplementedError, match="not implemented by 'sepool' backend"):
                function(karate, backend="sepool")

    def test_priority_leaves_functions_of_networkx_alone(self, karate):
        plain = nx.community.louvain_communities(karate, seed=1)
        with nx.config(backend_priority=["sepool"]):
            assert nx.community.louvain_communities(karate, seed=1) == plain


@pytest.mark.parametrize("backend", ["sepool", None])
@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        (nx.DiGraph([(0, 1)]), {}, ValueError, r"directed \(nx.DiGraph\).* pass symmetrise=True"),
        (nx.Graph(), {}, ValueError, "graph has no nodes"),
        (nx.path_graph(3), {"weight": "cost"}, ValueError, "no edge has the attribute 'cost'"),
        (nx.path_graph(3), {"seed": None}, TypeError, "seed must be a whole number, got None"),
        (nx.path_graph(3), {"num_clusters": 4}, ValueError, "num_clusters must be 1 .* to 3"),
        (nx.path_graph(3), {"resolution": 2}, TypeError, "communities.* argument 'resolution'"),
        (nx.Graph([(0, 1, {"weight": -1})]), {}, ValueError, "-1"),
    ],
)
def test_communities_impossible_argument_is_named(graph, options, error, message, backend):
    with pytest.raises(error, match=message) as raised:
        structural_entropy_communities(graph, backend=backend, **options)
    assert "\n" not in str(raised.value)


def test_partitions_impossible_argument_is_named_by_the_call():
    with pytest.raises(ValueError, match="directed"):
        structural_entropy_partitions(nx.DiGraph([(0, 1)]))
