"""The command graphrag."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest
from typer.testing import CliRunner

from sepool.cli.app import app

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    graph = nx.relabel_nodes(nx.ring_of_cliques(4, 8), "topic {}".format)
    titles = [*graph, "alone"]
    pd.DataFrame({"id": titles, "title": titles}).to_parquet("entities.parquet")
    edges = nx.to_pandas_edgelist(graph)
    edges.assign(id=[f"r{i}" for i in range(len(edges))]).to_parquet("relationships.parquet")
    return tmp_path


def _run(*arguments: str) -> tuple[int, str]:
    names = () if "none.parquet" in arguments else ("entities.parquet", "relationships.parquet")
    result = CliRunner().invoke(app, ("graphrag", *names, *arguments))
    return result.exit_code, result.output


def test_graphrag_writes_the_communities(folder):
    code, output = _run("--height", "2", "-o", "out.parquet")
    assert code == 0
    assert output.splitlines() == [
        "level  communities",
        "    0            4",
        "wrote out.parquet: 32 of 33 entities are in communities",
    ]
    table = pd.read_parquet(folder / "out.parquet")
    assert table["size"].tolist() == [8, 8, 8, 8]


def test_graphrag_json_has_the_counts(folder):
    code, output = _run("--height", "2", "--json", "--period", "2025-01-31", "--lcc")
    assert code == 0
    assert json.loads(output) == {
        "file": "communities.parquet",
        "communities": [4],
        "entities": 33,
        "in_communities": 32,
    }


def test_graphrag_reports_unknown_entities(folder):
    entities = pd.read_parquet("entities.parquet")
    entities[entities["title"] != "topic 3"].to_parquet("entities.parquet")
    code, output = _run()
    assert code == 0
    assert "note: 7 of 116 relationships name entities that are not in the table" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--height", "0"], "height must be 1 to"),
        (["-o", "entities.parquet"], "-o would overwrite the entities entities.parquet"),
        (["-o", "nowhere/out.parquet"], "no folder"),
        (["none.parquet", "relationships.parquet"], "none.parquet"),
        (["--clusters", "99"], "num_clusters"),
    ],
)
def test_graphrag_with_wrong_options_prints_one_line(folder, arguments, message):
    code, output = _run(*arguments)
    assert code == 2
    assert message in output
    assert len(output.splitlines()) == 1
    assert not (folder / "communities.parquet").exists()


def test_graphrag_of_another_file_names_it(folder):
    Path("entities.parquet").write_text("id,title\n")
    code, output = _run()
    assert code == 2
    assert output.startswith("sepool: entities.parquet: ")


def test_graphrag_of_another_table_names_the_columns(folder):
    Path("entities.parquet").write_bytes(Path("relationships.parquet").read_bytes())
    code, output = _run()
    assert code == 2
    assert "entities lacks title; expected the columns id, title" in output
