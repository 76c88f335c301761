"""Communities for GraphRAG, from tables of its documented columns."""

from __future__ import annotations

from datetime import date
from uuid import UUID, uuid4

import networkx as nx
import numpy as np
import pytest

import sepool

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from sepool.integrations.graphrag import COLUMNS, communities  # noqa: E402

DOCUMENTED = (
    "id human_readable_id community level parent children title entity_ids relationship_ids "
    "text_unit_ids period size"
)
DAY = "2025-01-31"


def tables(graph: nx.Graph, isolated: int = 0):
    """Return the tables of entities and relationships of a graph with weights."""
    titles = {node: f"TOPIC {i}" for i, node in enumerate(graph)}
    names = [*titles.values(), *(f"ALONE {i}" for i in range(isolated))]
    entities = pd.DataFrame(
        {
            "id": [str(uuid4()) for _ in names],
            "human_readable_id": range(len(names)),
            "title": names,
            "type": "concept",
            "description": "",
            "text_unit_ids": [[f"unit {i // 3}"] for i in range(len(names))],
            "frequency": 1,
            "degree": [*dict(graph.degree()).values(), *[0] * isolated],
            "x": 0.0,
            "y": 0.0,
        }
    )
    rows = [
        {
            "id": str(uuid4()),
            "human_readable_id": i,
            "source": titles[u],
            "target": titles[v],
            "description": "",
            "weight": float(weight),
            "combined_degree": graph.degree(u) + graph.degree(v),
            "text_unit_ids": [f"unit {i % 7}", f"unit {i % 5}"],
        }
        for i, (u, v, weight) in enumerate(graph.edges(data="weight", default=1))
    ]
    return entities, pd.DataFrame(rows)


def nested_graph() -> nx.Graph:
    """Return three groups: of five cliques of 16, of four cliques of 16, and one clique of 20."""
    rng = np.random.default_rng(0)
    graph = nx.Graph()
    start = 0
    for cliques in (5, 4):
        for first in range(start, start + 16 * cliques, 16):
            graph.add_edges_from(nx.complete_graph(range(first, first + 16)).edges, weight=2)
        for u in range(start, start + 16 * cliques):
            graph.add_edges_from(
                ((u, v) for v in range(start, u) if u // 16 != v // 16 and rng.random() < 0.12),
                weight=1,
            )
        start += 16 * cliques
    graph.add_edges_from(nx.complete_graph(range(start, start + 20)).edges, weight=2)
    graph.add_edges_from([(0, 80), (80, 144), (144, 0)], weight=1)
    return graph


@pytest.fixture(scope="module")
def nested():
    return tables(nested_graph(), isolated=3)


@pytest.fixture(scope="module")
def table(nested):
    return communities(*nested, period=DAY)


class TestSchema:
    def test_columns_are_the_documented_ones_in_their_order(self, table):
        assert list(table.columns) == list(COLUMNS) == DOCUMENTED.split()

    def test_types_survive_parquet(self, table, tmp_path):
        table.to_parquet(tmp_path / "communities.parquet")
        again = pd.read_parquet(tmp_path / "communities.parquet")
        for column in ("human_readable_id", "community", "level", "parent", "size"):
            assert again[column].dtype == np.int64
        for column in ("entity_ids", "relationship_ids", "text_unit_ids"):
            assert all(isinstance(x, str) for row in again[column] for x in row)
        assert all(row.dtype == np.int64 for row in again["children"])
        for column in ("id", "title", "period"):
            assert all(isinstance(x, str) for x in again[column])

    def test_numbers_and_titles_are_those_of_graphrag(self, table):
        assert table["community"].tolist() == list(range(len(table)))
        assert (table["human_readable_id"] == table["community"]).all()
        assert table["title"].tolist() == [f"Community {i}" for i in range(len(table))]
        assert table["level"].is_monotonic_increasing  # numbers increase with depth
        assert (table["size"] == table["entity_ids"].map(len)).all()
        assert table["id"].is_unique
        assert {UUID(x).version for x in table["id"]} == {5}

    def test_period_is_the_day_by_default(self, nested):
        before = date.today()
        period = communities(*nested)["period"].unique()
        assert len(period) == 1
        assert abs(date.fromisoformat(period[0]) - before).days <= 1  # UTC

    def test_period_is_the_argument(self, table):
        assert set(table["period"]) == {DAY}


class TestHierarchy:
    def test_levels_of_nested_groups_begin_with_the_coarsest(self, table):
        assert table["level"].tolist() == [0, 0, 0, *[1] * 9]
        assert table["size"].tolist() == [80, 64, 20, *[16] * 9]
        assert table["parent"].tolist() == [-1, -1, -1, *[0] * 5, *[1] * 4]
        children = [row.tolist() for row in table["children"]]
        assert children == [[3, 4, 5, 6, 7], [8, 9, 10, 11], *[[]] * 10]

    @pytest.mark.parametrize("height", [None, 2, 3, 4, 6])
    def test_parents_children_and_members_agree(self, nested, height):
        table = communities(*nested, height=height).set_index("community", drop=False)
        for row in table.itertuples():
            for child in row.children:
                assert table.parent[child] == row.community
                assert table.level[child] == row.level + 1
                assert set(table.entity_ids[child]) < set(row.entity_ids)
                assert set(table.relationship_ids[child]) <= set(row.relationship_ids)
            if row.parent == -1:
                assert row.level == 0
            else:
                assert row.community in table.children[row.parent]
                assert row.community > row.parent
        for _, level in table.groupby("level"):
            assert level["entity_ids"].explode().is_unique
            assert level["relationship_ids"].explode().is_unique

    @pytest.mark.parametrize("height", [2, 3, 4])
    def test_communities_are_the_clusters_of_the_coding_tree(self, height):
        graph = nx.les_miserables_graph()
        entities, relationships = tables(graph)
        table = communities(entities, relationships, height=height)
        titles = entities.set_index("id")["title"]
        ours = {frozenset(titles[x] for x in row) for row in table["entity_ids"]}
        names = nx.relabel_nodes(graph, dict(zip(graph, entities["title"], strict=True)))
        ordered = nx.Graph()
        ordered.add_nodes_from(sorted(names))
        ordered.add_edges_from(names.edges(data=True))
        tree = sepool.coding_tree(ordered, height)
        theirs = {
            frozenset(members)
            for level in range(1, height)
            for members in tree.communities(level)
            if ordered.subgraph(members).number_of_edges()
        }
        assert ours == theirs

    def test_relationships_and_text_units_are_those_inside(self, nested, table):
        entities, relationships = nested
        titles = entities.set_index("id")["title"]
        for row in table.itertuples():
            members = {titles[x] for x in row.entity_ids}
            inside = relationships[
                relationships["source"].isin(members) & relationships["target"].isin(members)
            ]
            assert row.relationship_ids == sorted(inside["id"])
            assert row.text_unit_ids == sorted(set(inside["text_unit_ids"].explode()))

    def test_entities_without_relationships_are_in_no_community(self, nested, table):
        entities, _ = nested
        alone = entities["id"][entities["title"].str.startswith("ALONE")]
        members = set(table["entity_ids"].explode())
        assert members.isdisjoint(alone)
        assert len(members) == len(entities) - 3

    def test_graph_without_structure_is_one_community(self):
        table = communities(*tables(nx.gnm_random_graph(100, 400, seed=1)))
        assert table[["community", "level", "parent"]].to_numpy().tolist() == [[0, 0, -1]]
        assert table["children"][0].tolist() == []

    def test_one_relationship_is_one_community(self):
        table = communities(*tables(nx.path_graph(2)))
        assert table["size"].tolist() == [2]

    def test_community_without_relationships_is_left_out(self):
        star = nx.star_graph(6)  # at this height some leaves are clusters of their own
        table = communities(*tables(star), height=2)
        assert table["relationship_ids"].map(len).gt(0).all()
        assert table["size"].gt(1).all()


class TestDeterminism:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_order_of_rows_does_not_matter(self, nested, table, seed):
        shuffled = [frame.sample(frac=1, random_state=seed) for frame in nested]
        again = communities(*shuffled, period=DAY)
        pd.testing.assert_frame_equal(again, table)

    def test_direction_of_relationships_does_not_matter(self, nested, table):
        entities, relationships = nested
        ends = {"source": relationships["target"], "target": relationships["source"]}
        again = communities(entities, relationships.assign(**ends), period=DAY)
        pd.testing.assert_frame_equal(again, table)

    def test_number_of_threads_does_not_matter(self, nested, table):
        again = communities(*nested, period=DAY, num_threads=2)
        pd.testing.assert_frame_equal(again, table)

    def test_id_depends_on_the_titles_of_the_members_alone(self, nested, table):
        entities, relationships = nested
        ids = {"id": [str(uuid4()) for _ in range(len(entities))]}
        again = communities(entities.assign(**ids), relationships)
        assert again["id"].tolist() == table["id"].tolist()

    def test_inputs_stay_as_they_are(self, nested):
        frames = [frame.copy(deep=True) for frame in nested]
        communities(*nested)
        for frame, before in zip(nested, frames, strict=True):
            pd.testing.assert_frame_equal(frame, before)


class TestOptions:
    def test_use_lcc_keeps_the_largest_component(self):
        graph = nx.disjoint_union(nx.complete_graph(4), nx.ring_of_cliques(5, 6))
        entities, relationships = tables(graph)
        every = communities(entities, relationships)
        table = communities(entities, relationships, use_lcc=True)
        assert every.loc[every["level"] == 0, "size"].sum() == 34
        assert table.loc[table["level"] == 0, "size"].sum() == 30

    def test_num_clusters_and_min_size_are_those_of_coding_tree(self, nested):
        table = communities(*nested, num_clusters=2, height=2)
        assert len(table) == 2
        assert communities(*nested, min_size=9, height=2)["size"].min() >= 9

    def test_without_weights_and_text_units_every_relationship_counts_one(self, nested):
        entities, relationships = nested
        bare = relationships[["id", "source", "target"]]
        table = communities(entities[["id", "title"]], bare, height=2)
        ones = relationships.assign(weight=1)
        same = communities(entities, ones, height=2)
        assert table["entity_ids"].tolist() == same["entity_ids"].tolist()
        assert table["text_unit_ids"].tolist() == [[]] * len(table)

    def test_repeated_pairs_add_up(self, nested, table):
        entities, relationships = nested
        halves = pd.concat([relationships, relationships.assign(id=relationships["id"] + "b")])
        again = communities(entities, halves.assign(weight=halves["weight"] / 2))
        assert again["id"].tolist() == table["id"].tolist()

    def test_self_loops_are_listed_and_do_not_count(self, nested, table):
        entities, relationships = nested
        loop = {**relationships.iloc[0], "id": "loop", "target": relationships["source"][0]}
        more = pd.concat([relationships, pd.DataFrame([{**loop, "weight": 1e6}])])
        again = communities(entities, more, period=DAY)
        assert again["entity_ids"].tolist() == table["entity_ids"].tolist()
        assert sum("loop" in row for row in again["relationship_ids"]) == 2  # on both levels


class TestBadInput:
    @pytest.mark.parametrize(
        ("position", "column", "match"),
        [
            (0, "title", "entities lacks title; expected the columns id, title of GraphRAG's"),
            (0, "id", "entities lacks id; "),
            (1, "source", "relationships lacks source; expected the columns id, source, target"),
            (1, "id", "relationships lacks id"),
        ],
    )
    def test_missing_column_is_named(self, nested, position, column, match):
        frames = list(nested)
        frames[position] = frames[position].drop(columns=column)
        with pytest.raises(ValueError, match=match):
            communities(*frames)

    def test_unknown_entities_are_counted_and_named(self, nested, table):
        entities, relationships = nested
        strays = relationships.iloc[:2].assign(
            id=["a stray", "b stray"], target=["NOBODY", "NOWHERE"]
        )
        match = rf"2 of {len(relationships) + 2} relationships name entities .*'NOBODY'\); they"
        with pytest.warns(UserWarning, match=match) as record:
            again = communities(entities, pd.concat([relationships, strays]), period=DAY)
        assert record[0].filename == __file__
        pd.testing.assert_frame_equal(again, table)

    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "much"])
    def test_impossible_weight_names_the_relationship(self, nested, weight):
        entities, relationships = nested
        wrong = relationships.astype({"weight": object})
        wrong.loc[4, "weight"] = weight
        match = f"0 or more, but relationship '{relationships['id'][4]}' has {weight!r}"
        with pytest.raises(ValueError, match=match):
            communities(entities, wrong)

    def test_repeated_title_is_named(self, nested):
        entities, relationships = nested
        twice = entities.assign(title=entities["title"].replace("TOPIC 1", "TOPIC 2"))
        with pytest.raises(ValueError, match="several entities have the title 'TOPIC 2'"):
            communities(twice, relationships)

    def test_repeated_id_is_named(self, nested):
        entities, relationships = nested
        with pytest.raises(ValueError, match="several relationships have the id 'x'"):
            communities(entities, relationships.assign(id="x"))

    def test_missing_title_is_counted(self, nested):
        entities, relationships = nested
        with pytest.raises(ValueError, match=f"1 of {len(entities)} entities have no title"):
            communities(entities.replace({"title": {"TOPIC 1": None}}), relationships)

    def test_text_units_as_text_are_refused(self, nested):
        entities, relationships = nested
        with pytest.raises(ValueError, match="text_unit_ids must be a list, but relationship"):
            communities(entities, relationships.assign(text_unit_ids="['unit 1']"))

    def test_no_relationship_between_entities_is_refused(self, nested):
        entities, relationships = nested
        match = "no relationship of a positive weight joins two entities"
        with pytest.raises(ValueError, match=match):
            communities(entities, relationships.iloc[:0])
        with pytest.raises(ValueError, match=match):
            communities(entities, relationships.assign(weight=0))

    def test_another_object_is_named(self, nested):
        with pytest.raises(TypeError, match=r"entities must be a pandas.DataFrame, got list"):
            communities([], nested[1])
