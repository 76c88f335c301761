from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import sepool
from sepool.cli import app as cli
from sepool_experiments.figures.figure4_table import COLUMNS as RINGS
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.figures import FIGURES
from sepool_experiments.report.cells import cells, joined, own_rows, rivals
from sepool_experiments.report.comparisons import paired_tests
from sepool_experiments.report.published import published
from sepool_experiments.report.report import write_report
from sepool_experiments.results.database import Writer
from sepool_experiments.results.rows import Rows
from sepool_experiments.results.run_info import RunInfo


def change_rules(folder, dataset):
    """Give the rows of a dataset the digest of other rules."""
    with sqlite3.connect(folder / "rows.sqlite") as database:
        change = "UPDATE runs SET info = json_set(info, '$.digest', '0123456789ab')"
        database.execute(f"{change} WHERE dataset = ?", [dataset])


@pytest.fixture
def results(write, protocol):
    """A complete column of MUTAG for two trees, a part of NCI1, and table 2 without GCN."""
    write(protocol.units(["MUTAG"], ["SEP-G"], ["best", "random"], seeds=10))
    write(protocol.units(["NCI1"], ["SEP-G"], ["best"], seeds=2)[:-1])
    table2 = PROTOCOLS["table2"]
    return write(table2.units(["MUTAG"], seeds=1, configs=[0, 16, 80]), table2)


def test_write_report_writes_all_formats(results, tmp_path):
    page = write_report(results, tmp_path / "out", against_paper=True).text
    names = {path.name for path in (tmp_path / "out").iterdir()}
    for table in ("customary", "strict", "tests", "trees", "control"):
        assert {f"table1-{table}.{suffix}" for suffix in ("md", "csv", "tex")} <= names
    assert {"report.md", "table1-accuracy.png", "table1-curves-MUTAG.png"} <= names
    assert (tmp_path / "out" / "report.md").read_text(encoding="utf-8") == page
    assert "3,519 trainings" in page
    assert f"; trees built by sepool {sepool.__version__}; torch" in page
    assert "Published figures: Junran Wu" in page


def test_write_report_accuracies_in_csv(results, tmp_path, records):
    write_report(results, tmp_path, against_paper=True)
    for rule in ("customary", "strict"):
        by_key = {
            (r["dataset"], r["system"], r["tree"]): r for r in records(tmp_path, f"table1-{rule}")
        }
        mutag = by_key["MUTAG", "SEP-G", "best"]
        assert (mutag["seeds"], mutag["folds"], mutag["trainings"]) == ("10", "10", "1600")
        assert float(mutag["difference"]) == pytest.approx(float(mutag["mean"]) - 85.56, abs=1e-3)
        unfinished = by_key["NCI1", "SEP-G", "best"]
        assert (unfinished["trainings"], unfinished["seeds"]) == ("319", "2")
        missing = by_key["MUTAG", "GIN", ""]
        assert (missing["mean"], missing["difference"], missing["published"]) == ("", "", "81.39")


def test_write_report_marks_missing_and_unfinished_cells(results, tmp_path):
    page = write_report(results, tmp_path).text
    lines = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("|")}
    assert lines["GIN"].count("missing") == 7
    assert lines["SEP-G (best)"].count("missing") == 5
    assert lines["SEP-G (best)"].count("*") == 1
    assert "published" not in page


def test_write_report_against_paper_has_differences(results, tmp_path):
    page = write_report(results, tmp_path, against_paper=True).text
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert sum(line.startswith("| SEP-G, published") for line in lines) == 2  # once a rule
    assert sum(line.startswith("| SEP-G (random), difference") for line in lines) == 2
    assert "85.56 ± 1.09" in page


def test_write_report_table2_has_gcn_of_table1(results):
    rows = Rows.read(results)
    by_key = {(c.line.name, c.dataset): c for c in cells(PROTOCOLS["table2"], rows)}
    gcn = by_key["SEP-G-GCN", "MUTAG"]
    assert (len(gcn.rows), gcn.expected, gcn.complete) == (1600, 1600, True)
    assert by_key["SEP-G-ChebNet", "MUTAG"].selected == {"customary": None, "strict": None}
    assert {str(c.line) for c in by_key.values()} >= {"SEP-G-GCN (best)", "SEP-G-GraphSAGE (best)"}
    assert not any("random" in str(c.line) for c in by_key.values())


def test_rivals_exclude_variants_of_gin(results):
    """Variants have rows of their own: all backbones select from equally large grids."""
    table2 = PROTOCOLS["table2"]
    table_cells = cells(table2, Rows.read(results))
    by_key = {c.line.name: c for c in table_cells if c.dataset == "MUTAG"}
    gin, plain, glorot = (by_key[f"SEP-G-GIN{name}"] for name in ("", "(plain)", "(Glorot)"))
    assert {c.expected for c in by_key.values()} == {1600}
    assert [len(cell.rows) for cell in (gin, plain, glorot)] == [10, 10, 0]
    assert {dict(extra).get("init") for extra in gin.rows["extra"]} == {"torch"}
    assert (gin.published, plain.published) == (published("table2", "SEP-G-GIN", "MUTAG"), None)
    compared = rivals(table2, table_cells)
    others = {str(test["second"]) for test in paired_tests(table2, compared)}
    assert others == {"SEP-G-GIN (best)", "SEP-G-GAT (best)"}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_write_report_rows_have_results(name, results):
    """Every row has configurations in the grid."""
    table_cells = cells(PROTOCOLS[name], Rows.read(results))
    assert table_cells
    assert all(cell.expected for cell in table_cells)


def test_joined_selects_from_both_protocols(results, write, tmp_path, records):
    table1, released = PROTOCOLS["table1"], PROTOCOLS["released"]
    write(released.units(["MUTAG"], ["SEP-G"], ["best"], seeds=10), released)
    rows = Rows.read(results)
    cell = next(
        cell
        for cell in joined(cells(table1, rows), cells(released, rows))
        if (cell.dataset, cell.line.tree) == ("MUTAG", "best")
    )
    assert (len(cell.rows), cell.expected, cell.complete) == (4800, 4800, True)
    by_validation = cell.rows.groupby("config")["val_accuracy"].mean()
    assert len(by_validation) == 48
    (chosen,) = cell.selected["customary"].configs
    assert by_validation[chosen] == pytest.approx(by_validation.max())
    write_report(results, tmp_path, against_paper=True)
    shown = records(tmp_path, "released-or-table1-customary")
    mutag = next(r for r in shown if (r["dataset"], r["tree"]) == ("MUTAG", "best"))
    assert (mutag["configurations"], mutag["published"]) == (chosen, "85.56")


def test_write_report_counts_rows_of_other_rules(results, tmp_path, protocol):
    change_rules(results / "table1", "NCI1")
    assert set(own_rows(protocol, Rows.read(results))["dataset"]) == {"MUTAG"}
    assert "319 rows are left out" in write_report(results, tmp_path).text


def test_write_report_twice_is_equal(results, tmp_path):
    for name in ("a", "b"):
        write_report(results, tmp_path / name, against_paper=True)
    files = sorted((tmp_path / "a").iterdir())
    assert len(files) > 18
    for path in files:
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


class TestPictures:
    @pytest.fixture
    def drawn(self, tmp_path):
        """Two rows of figure 3, one of figure 4, and a picture of the first."""
        folder = tmp_path / "results"
        for figure, measured in (
            (FIGURES["figure3"], [{"mse": 0.25}, {"mse": 0.75}]),
            (FIGURES["figure4"], [dict.fromkeys(RINGS, 0.5) | {"rings": 538}]),
        ):
            units = figure.units([figure.datasets[0]], ["DiffPool"], seeds=2, configs=[0])
            info = RunInfo.now(figure, "cpu", "replicas")
            with Writer(folder, figure, info) as writer:
                for unit, numbers in zip(units, measured, strict=False):
                    writer.add_measured(unit, numbers)
        (folder / "figure3" / "figure3.png").write_bytes(b"a picture")
        return folder

    def test_write_report_has_tables_and_pictures(self, drawn, tmp_path, records):
        report = write_report(drawn, tmp_path / "out")
        assert [table.name for table in report.tables] == ["figure3", "figure4"]
        assert "2 rows; device cpu; engine replicas" in report.text
        assert "![figure3](figure3.png)" in report.text
        assert (tmp_path / "out" / "figure3.png").read_bytes() == b"a picture"
        assert "`sepool reproduce figure4 --out" in report.text
        ring = next(r for r in records(tmp_path / "out", "figure3") if r["system"] == "DiffPool")
        assert (ring["mse"], ring["mse_least"], ring["trainings"]) == ("0.5", "0.25", "2")
        names = {path.name for path in report.files}
        assert {"figure3.tex", "figure4.md", "figure4.csv", "figure3.png", "report.md"} <= names

    def test_write_report_ignores_rows_of_other_rules(self, drawn, tmp_path):
        change_rules(drawn / "figure3", "ring")
        assert [table.name for table in write_report(drawn, tmp_path / "out").tables] == ["figure4"]

    def test_write_report_does_not_import_torch(self, drawn, without):
        done = without("torch,torch_geometric", "report", "--results", str(drawn), "--out", "out")
        assert (done.returncode, done.stderr[:17]) == (0, "wrote out/report.")
        assert "Rings of molecules" in done.stdout


def test_write_report_rows_of_unknown_protocol_raise(write, protocol, tmp_path, monkeypatch):
    own = replace(protocol, name="mine")
    results = write(own.units(["MUTAG"], ["SEP-G"], seeds=1, configs=[0]), own)
    message = (
        r"its rows \(10 of mine\) belong to no protocol .*cells, as in docs/tutorials/research"
    )
    with pytest.raises(ValueError, match=message):
        write_report(results, tmp_path / "out", against_paper=True)
    assert not (tmp_path / "out").exists()


def test_write_report_only_rows_of_other_rules_raise(write, protocol, tmp_path):
    results = write(protocol.units(["MUTAG"], ["SEP-G"], seeds=1, configs=[0]), protocol)
    change_rules(results / "table1", "MUTAG")
    with pytest.raises(ValueError, match=r"its rows \(10 of table1\) have rules"):
        write_report(results, tmp_path / "out")


def test_command_json_has_tables(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = json.loads(CliRunner().invoke(cli.app, ["report", "--json"]).stdout)
    tables = {table["name"]: table for table in outcome["tables"]}
    assert tables["table1-trees"]["records"][0]["trainings"] == 1600
    missing = next(r for r in tables["table1-strict"]["records"] if r["system"] == "GIN")
    assert missing["mean"] is None
    assert "report/report.md" in outcome["files"]
    assert all((tmp_path / name).exists() for name in outcome["files"])


def test_command_without_results_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["report", "--results", "nothing"])
    assert done.exit_code == 2
    assert done.output.startswith(
        "sepool: no results in nothing; `sepool reproduce table1 --quick`"
    )
