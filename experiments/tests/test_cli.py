from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sepool.cli import app as cli
from sepool_experiments import backends
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.results.rows import finished

HERE, TRAINER = str(Path(__file__).parent), "fake_trainer:train"
SMALL = [
    *("--datasets", "MUTAG", "--systems", "SEP-G", "--seeds", "1"),
    *("--folds", "3", "--engine", "processes"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch, options, data):
    """A working folder with data and the fake trainer."""
    fake = functools.partial(backends.RunOptions, trainer=options.trainer)
    monkeypatch.setattr(backends, "RunOptions", fake)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEPOOL_DATA", raising=False)
    return tmp_path


def run(*args: str, code: int = 0):
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == code, result.output
    return result


def test_reproduce_interrupted_run_resumes(folder):
    first = run("reproduce", "table1", *SMALL, "--configs", "0,2-3", "--device", "cpu")
    assert "9/9 trainings, " in first.output
    line = r"all 9 trainings are in results/table1 \(9 now, in \d+\.\d s\); sepool report"
    assert re.search(rf"{line} --results results\n$", first.output)
    keys = finished("results", PROTOCOLS["table1"])
    assert len(keys) == 9
    again = run("reproduce", "table1", *SMALL, "--configs", "4", "--device", "cpu")
    assert "9 of 12 trainings are in results/table1 already" in again.output
    assert "3/3 trainings" in again.output
    assert keys < finished("results", PROTOCOLS["table1"])
    done = run("reproduce", "table1", *SMALL, "--configs", "4", "--device", "cpu")
    assert "12 of 12 trainings are in results/table1 already" in done.output
    assert done.output.endswith("in results/table1; sepool report --results results\n")


def test_pack(folder):
    run("reproduce", "table1", *SMALL, "--configs", "1", "--device", "cpu")
    assert run("pack").stdout == "results/table1: 3 trainings (3 new), 0.0 MB\n"
    assert run("pack", "results").stderr == "nothing to pack in results\n"
    done = run("reproduce", "table1", *SMALL, "--configs", "2", "--device", "cpu")
    assert "3 of 6 trainings are in results/table1 already" in done.output
    (packed,) = json.loads(run("pack", "--json").stdout)
    assert (packed["folder"], packed["trainings"], packed["added"]) == ("results/table1", 6, 3)


def test_reproduce_one_training_prints_singular(folder):
    args = ["reproduce", "table1", *SMALL, "--folds", "1", "--configs", "1", "--device", "cpu"]
    assert "\nthe training is in results/table1 (1 now, in " in run(*args).output
    assert run(*args).output.startswith("1 of 1 training is in results/table1 already\n")


def test_reproduce_quick_writes_own_folder(folder):
    run("reproduce", "table1", "--quick", "--engine", "processes", "--device", "cpu", "--out", "r")
    assert len(finished("r", PROTOCOLS["table1-quick"])) == 20
    assert not (folder / "r" / "table1").exists()


def test_reproduce_dataset_from_files_trains_and_reports(folder):
    raw = folder / "data" / "TU" / "MUTAG" / "raw"
    for path in raw.iterdir():
        path.rename(path.with_name(path.name.replace("MUTAG", "PATHS")))
    raw.parent.rename(raw.parents[1] / "PATHS")
    args = ("--datasets", "PATHS", "--systems", "SEP-G", "--seeds", "1", "--configs", "1")
    run("reproduce", "table1", *args, "--engine", "processes", "--device", "cpu")
    assert len(finished("results", PROTOCOLS["table1"])) == 10
    wrong = run("reproduce", "table1", "--datasets", "PATSH", "--device", "cpu", code=2)
    assert "unknown dataset 'PATSH'; did you mean PATHS" in wrong.output
    done = run("report")
    assert re.search(r"\| +PATHS +\|", done.stdout)
    assert "wrote" not in done.stdout
    assert re.search(r"^wrote report/report.md and \d+ more\n$", done.stderr)


def test_reproduce_data_by_environment_trains(folder, monkeypatch):
    (folder / "data").rename(folder / "elsewhere")
    monkeypatch.setenv("SEPOOL_DATA", "elsewhere")
    run("reproduce", "table1", *SMALL, "--configs", "1", "--device", "cpu")


class TestBadInput:
    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["table9"], "unknown protocol 'table9'; did you mean table4 or table3 or"),
            (["table1", "--systems", "SEPG"], "unknown system 'SEPG'; did you mean SEP-G or"),
            (["released", "--quick"], "released has no short trial; use --folds"),
            (["table1", "--engine", "magic"], "backend must be auto, replicas, processes, ray"),
            (["table1", "--folds", "11"], "--folds 11 exceeds the 10 of this table"),
            (["table1", "--seeds", "some"], "--seeds takes a count (3) or a list (0,4-6), got"),
            (["figure3", "--engine", "magic"], "backend must be auto, replicas, processes, ray"),
            (["table1", "--device", "cuda:63"], "device must be auto, cpu, got 'cuda:63'"),
        ],
    )
    def test_reproduce_bad_option_prints_one_line(self, folder, args, message):
        args = [*args] if "--engine" in args else [*args, "--engine", "processes"]
        result = run("reproduce", *args, code=2)
        assert result.output.startswith(f"sepool: {message}"), result.output
        assert len(result.output.splitlines()) == 1
        assert not (folder / "results").exists()

    def test_reproduce_results_of_other_folds_fails(self, folder):
        run("reproduce", "table1", *SMALL, "--configs", "1", "--device", "cpu")
        splits = folder / "data" / "splits" / "MUTAG"
        for fold, text in ((1, "0\n11\n"), (2, "1\n10\n")):
            (splits / f"test_idx-{fold}.txt").write_text(text)
        args = ["reproduce", "table1", *SMALL, "--configs", "2", "--device", "cpu"]
        output = run(*args, code=2).output
        assert "sepool: results/table1 holds results of other graphs or folds of MUTAG" in output
        run(*args, "--out", "others")

    def test_reproduce_trees_of_missing_package_fails(self, folder, monkeypatch):
        monkeypatch.setattr("sepool.integrations.tgp.MISSING", ModuleNotFoundError("no tgp"))
        output = run("reproduce", "table1", *SMALL, "--trees", "released", code=1).output
        assert output.endswith("(no tgp): pip install --no-build-isolation torch-geometric-pool\n")

    def test_list_and_report_bad_argument_fails(self, folder):
        assert "list takes systems, datasets, protocols" in run("list", "all", code=2).output
        assert "--against takes 'paper'" in run("report", "--against", "me", code=2).output


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("systems", "SEP-G .* 2022 "),
        ("datasets", "MUTAG "),
        ("protocols", "table1 +145,600 "),
        ("protocols", "table3 +8,370 "),
        ("protocols", "figure3 "),
    ],
)
def test_list_prints_names_and_formats_thousands_but_not_years(what, line):
    assert re.search(f"^{line}", run("list", what).output, re.M)


def test_reproduce_json_prints_errors(folder):
    done = run("reproduce", "table9", "--json", code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("sepool: unknown protocol 'table9'; ")


def test_list_json_has_typed_values():
    systems = json.loads(run("list", "systems", "--json").stdout)
    sep_g = next(row for row in systems if row["system"] == "SEP-G")
    assert (sep_g["tree"], sep_g["year"], sep_g["classifies"]) == (True, 2022, "graphs")
    protocols = json.loads(run("list", "protocols", "--json").stdout)
    table1 = next(row for row in protocols if row["protocol"] == "table1")
    assert table1["trainings"] == len(PROTOCOLS["table1"].units())


def test_reproduce_json_prints_outcome_only(folder):
    args = ["reproduce", "table1", *SMALL, "--configs", "1", "--device", "cpu", "--json"]
    outcome = {"protocol": "table1", "trainings": 3, "results": "results/table1", "files": []}
    for trained in (3, 0):
        done = run(*args)
        assert done.stderr == ""
        printed = json.loads(done.stdout)
        assert 0 <= printed.pop("seconds") < 600
        assert printed == {**outcome, "trained_now": trained}


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_reproduce_interrupted_keeps_finished_results(folder, units):
    """Workers end with the command, and the file has complete lines."""
    args = ["table1", *SMALL, "--configs", "4", "--device", "cpu", "--workers", "2"]
    code = (
        "import functools, sys\n"
        "from sepool_experiments import backends\n"
        f"make = functools.partial(backends.RunOptions, trainer={TRAINER!r})\n"
        "backends.RunOptions = make\n"
        "from sepool.__main__ import main\n"
        "main()\n"
    )
    paths = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, "-c", code, "reproduce", *args],
        env={**os.environ, "PYTHONPATH": paths, "FAKE_SECONDS": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal sends Ctrl-C to the group
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # ignored in background jobs
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not finished("results", PROTOCOLS["table1"]):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("sepool: interrupted\n")
    assert "Traceback" not in err
    assert 0 < len(finished("results", PROTOCOLS["table1"])) < 12
