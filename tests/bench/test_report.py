from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

pytest.importorskip("pandas")
pytest.importorskip("scipy")
pytest.importorskip("matplotlib")
pytest.importorskip("typer")

from typer.testing import CliRunner

from sepool import cli
from sepool.bench.cells import cells, own_rows
from sepool.bench.lines import RunInfo
from sepool.bench.protocols import PROTOCOLS
from sepool.bench.report import write_report
from sepool.bench.rows import Rows, Writer


@pytest.fixture
def write(tmp_path, result):
    """Writes made-up results: best trees are two points better than others."""

    def write(units, protocol=PROTOCOLS["table1"]):
        with Writer(tmp_path / "results", protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
            for unit in units:
                made = result(unit)
                accuracy = 0.7 + 0.02 * (unit.tree == "best") + (made.test_accuracy - 0.7) / 50
                writer.add(replace(made, test_accuracy=accuracy))
        return tmp_path / "results"

    return write


@pytest.fixture
def results(write, protocol):
    """A complete column of MUTAG for two trees, a part of NCI1, and table 2 without GCN."""
    write(protocol.units(["MUTAG"], ["SEP-G"], ["best", "random"], seeds=10))
    write(protocol.units(["NCI1"], ["SEP-G"], ["best"], seeds=2)[:-1])
    table2 = PROTOCOLS["table2"]
    return write(table2.units(["MUTAG"], seeds=1, configs=[0, 16]), table2)


def records(folder, name):
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_files(results, tmp_path):
    page = write_report(results, tmp_path / "out", against_paper=True).text
    names = {path.name for path in (tmp_path / "out").iterdir()}
    for table in ("customary", "strict", "tests", "trees"):
        assert {f"table1-{table}.{suffix}" for suffix in ("md", "csv", "tex")} <= names
    assert {"report.md", "table1-accuracy.png", "table1-curves-MUTAG.png"} <= names
    assert (tmp_path / "out" / "report.md").read_text(encoding="utf-8") == page
    assert "3,519 trainings" in page
    assert "Published figures: Junran Wu" in page


def test_accuracies(results, tmp_path):
    write_report(results, tmp_path, against_paper=True)
    for rule in ("customary", "strict"):
        found = {
            (r["dataset"], r["system"], r["tree"]): r for r in records(tmp_path, f"table1-{rule}")
        }
        mutag = found["MUTAG", "SEP-G", "best"]
        assert (mutag["seeds"], mutag["folds"], mutag["trainings"]) == ("10", "10", "1600")
        assert float(mutag["difference"]) == pytest.approx(float(mutag["mean"]) - 85.56, abs=1e-3)
        unfinished = found["NCI1", "SEP-G", "best"]
        assert (unfinished["trainings"], unfinished["seeds"]) == ("319", "2")
        missing = found["MUTAG", "GIN", ""]
        assert (missing["mean"], missing["difference"], missing["published"]) == ("", "", "81.39")


def test_missing_and_unfinished_cells_say_so(results, tmp_path):
    page = write_report(results, tmp_path).text
    lines = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("|")}
    assert lines["GIN"].count("missing") == 7
    assert lines["SEP-G (best)"].count("missing") == 5
    assert lines["SEP-G (best)"].count("*") == 1
    assert "published" not in page


def test_against_the_paper(results, tmp_path):
    page = write_report(results, tmp_path, against_paper=True).text
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert sum(line.startswith("| SEP-G, published") for line in lines) == 2  # once a rule
    assert sum(line.startswith("| SEP-G (random), difference") for line in lines) == 2
    assert "85.56 ± 1.09" in page


def test_paired_tests(results, tmp_path):
    write_report(results, tmp_path)
    found = records(tmp_path, "table1-tests")
    assert [(r["rule"], r["dataset"], r["second"]) for r in found] == [
        ("customary", "MUTAG", "SEP-G (random)"),
        ("strict", "MUTAG", "SEP-G (random)"),
    ]
    for record in found:
        assert record["pairs"] == "10"
        assert float(record["p"]) <= float(record["p_holm"]) <= 1
        assert float(record["difference"]) == pytest.approx(2, abs=0.5)


def test_trees_are_paired_unit_by_unit(results, tmp_path):
    write_report(results, tmp_path)
    (study,) = records(tmp_path, "table1-trees")
    assert (study["dataset"], study["tree"], study["trainings"]) == ("MUTAG", "random", "1600")
    assert float(study["best_less_this"]) == pytest.approx(2, abs=0.1)
    assert 0 < float(study["standard_error"]) < 0.1


def test_table2_borrows_the_row_of_gcn(results):
    rows = Rows.read(results)
    found = {(c.line.name, c.dataset): c for c in cells(PROTOCOLS["table2"], rows)}
    gcn, gin = found["SEP-G-GCN", "MUTAG"], found["SEP-G-GIN", "MUTAG"]
    assert (len(gcn.rows), gcn.expected, gcn.complete) == (1600, 1600, True)
    assert (len(gin.rows), gin.expected, gin.complete) == (10, 1600, False)
    assert found["SEP-G-ChebNet", "MUTAG"].selected == {"customary": None, "strict": None}
    assert {str(c.line) for c in found.values()} >= {"SEP-G-GCN (best)", "SEP-G-GraphSAGE (best)"}
    assert not any("random" in str(c.line) for c in found.values())


def test_rows_of_other_rules_are_left_out_and_counted(results, tmp_path, protocol):
    path = results / "table1" / "NCI1.jsonl"
    path.write_text(path.read_text().replace(protocol.digest, "0123456789ab"))
    assert set(own_rows(protocol, Rows.read(results))["dataset"]) == {"MUTAG"}
    assert "319 rows are left out" in write_report(results, tmp_path).text


def test_a_dataset_beyond_the_paper(write, protocol, tmp_path):
    results = write(protocol.units(["PTC_MR"], seeds=1))
    assert "PTC_MR" in write_report(results, tmp_path, against_paper=True).text


def test_the_same_rows_give_the_same_bytes(results, tmp_path):
    for name in ("a", "b"):
        write_report(results, tmp_path / name, against_paper=True)
    files = sorted((tmp_path / "a").iterdir())
    assert len(files) > 15
    for path in files:
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_command(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["report", "--against", "paper"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("# Results\n")
    assert (tmp_path / "report" / "report.md").exists()


def test_command_as_json(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = json.loads(CliRunner().invoke(cli.app, ["report", "--json"]).stdout)
    tables = {table["name"]: table for table in outcome["tables"]}
    assert tables["table1-trees"]["records"][0]["trainings"] == 1600
    missing = next(r for r in tables["table1-strict"]["records"] if r["system"] == "GIN")
    assert missing["mean"] is None
    assert "report/report.md" in outcome["files"]
    assert all((tmp_path / name).exists() for name in outcome["files"])


def test_no_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["report", "--results", "nothing"])
    assert done.exit_code == 2
    assert done.output.startswith(
        "sepool: no results in nothing; `sepool reproduce table1 --quick`"
    )
