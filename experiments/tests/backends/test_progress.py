from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.progress import Task

from sepool_experiments.backends import progress
from sepool_experiments.backends.progress import Reporter, watch


def test_line_shows_rate_time_left_and_running_means(units, result, monkeypatch):
    reporter = Reporter(units, Console(file=io.StringIO()))
    assert reporter.line() == "0/12 trainings, time left unknown"
    for unit in units[:3]:
        reporter.add(result(unit))
    monkeypatch.setattr(Task, "elapsed", 1200.0)
    mean = 100 * sum(result(unit).test_accuracy for unit in units[:3]) / 3
    line = r"3/12 trainings, 0.0025 a second, 1:00:00 left; MUTAG SEP-G \(best\) val \S+ test "
    assert re.fullmatch(f"{line}{mean:.2f}", reporter.line())


def test_reporter_without_terminal_prints_lines(units, result, monkeypatch):
    out = io.StringIO()
    reporter = Reporter(units, Console(file=out))
    reporter.add(result(units[0]))
    assert out.getvalue() == ""
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    reporter.add(result(units[1]))
    assert out.getvalue().startswith("2/12 trainings")


@pytest.mark.parametrize("terminal", [True, False])
def test_watch_shows_results_and_messages(units, result, monkeypatch, capsys, terminal):
    monkeypatch.setenv("FORCE_COLOR" if terminal else "NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with watch(units) as reporter:
        for unit in units:
            reporter.add(result(unit))
        reporter.log("something to say")
    shown = capsys.readouterr().err
    assert "something to say" in shown
    assert "12/12" in shown
    assert ("trainings" in shown) is not terminal
