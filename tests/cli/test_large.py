from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sepool.cli import app as cli
from sepool.extras import install_command

BRIDGE = "source,target\n0,1\n1,2\n2,0\n2,3\n3,4\n4,5\n5,3\n5,5\n4,3\n"


@pytest.fixture
def edges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(BRIDGE)
    return "edges.csv"


def run(*args: str):
    return CliRunner().invoke(cli.app, ["tree", *args])


def test_tree_engine_prints_steps_and_summary(edges):
    pytest.importorskip("duckdb")
    result = run(edges, "--engine", "duckdb", "--height", "2", "--memory", "1GB", "-o", "l.parquet")
    assert result.exit_code == 0, result.output
    steps = [line.partition(":")[0] for line in result.stderr.splitlines()]
    assert steps == ["reading", "search", "entropy"]
    assert "7 edges left" in result.stderr
    assert "MB spilled" in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "edges.csv: 6 nodes, 7 edges"
    assert lines[1].endswith("1 self-loops dropped, 1 repeated edges added")
    assert lines[2].startswith("entropy ")
    assert lines[3] == "level 1: 2 clusters"
    assert lines[4].endswith("l.parquet")


def test_tree_engine_json_has_the_result(edges):
    pytest.importorskip("duckdb")
    result = run(edges, "--engine", "duckdb", "--height", "2", "--json")
    fields = json.loads(result.stdout)
    assert (fields["height"], fields["counts"], fields["rounds"]) == (2, [6, 2, 1], 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory", "1GB"), "--memory goes with --engine duckdb or --engine spark"),
        (("--engine", "duckdb", "--seed", "3"), "--seed does not go with --engine duckdb"),
        (("--engine", "duckdb", "--format", "csv"), "--format does not go with --engine duckdb"),
        (("--engine", "sqlite"), "engine must be one of duckdb, spark, got 'sqlite'"),
    ],
)
def test_tree_engine_wrong_options_are_one_line(edges, options, message):
    result = run(edges, *options)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1


def test_tree_engine_missing_package_names_its_extra(edges, without):
    done = without("duckdb", "tree", "edges.csv", "--engine", "duckdb")
    expected = f"engine='duckdb' needs duckdb: {install_command('sepool[duckdb]')}"
    assert done.stderr.splitlines()[-1].endswith(expected)
