from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sepool.cli import app as cli
from sepool_experiments.protocols import figures as protocols

QUICK = ["figure3", "--quick", "--device", "cpu", "--seeds", "1"]


@pytest.fixture
def folder(tmp_path, small, monkeypatch):
    """A working folder, with small graphs and few epochs."""
    monkeypatch.chdir(tmp_path)
    short = replace(protocols.FIGURES["figure3-quick"], epochs=5)
    monkeypatch.setitem(protocols.FIGURES, "figure3-quick", short)
    return tmp_path


def run(*args: str, code: int = 0):
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == code, result.output
    return result.output


def test_reproduce_figure3_resumes(folder):
    first = run("reproduce", *QUICK, "--systems", "SEP,TopKPool", "--datasets", "ring")
    assert first.splitlines()[-2] == "results/figure3-quick/figure3-quick.svg"
    again = run("reproduce", *QUICK, "--systems", "SEP,TopKPool")
    assert "4 of 8 trainings are in results/figure3-quick already" in again
    assert (folder / "results" / "figure3-quick" / "grid.npz").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["figure3", "--datasets", "rnig"], "unknown graph 'rnig'; did you mean ring"),
        (["figure3", "--systems", "SEP-G"], "unknown system 'SEP-G'; did you mean SEP"),
        (["figure4", "--datasets", "NCI1"], "unknown graph 'NCI1'"),
    ],
)
def test_reproduce_bad_option_prints_one_line(folder, args, message):
    output = run("reproduce", *args, code=2)
    assert output.startswith(f"sepool: {message}"), output
    assert len(output.splitlines()) == 1
    assert not (folder / "results").exists()


def test_reproduce_json_prints_outcome(folder):
    args = [*QUICK, "--systems", "TopKPool", "--datasets", "ring", "--json"]
    outcome = json.loads(CliRunner().invoke(cli.app, ["reproduce", *args]).stdout)
    assert (outcome["trainings"], outcome["trained_now"]) == (1, 1)
    assert outcome["files"][-1] == "results/figure3-quick/figure3-quick.svg"
