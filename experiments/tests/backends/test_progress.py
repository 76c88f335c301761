from __future__ import annotations

import io

import pytest
from rich.console import Console

from sepool_experiments.backends import progress
from sepool_experiments.backends.progress import Board, Reporter, watch


def test_pace_shows_rate_and_time_left(units, result):
    board = Board(units)
    assert board.pace(board.start + 5) == "time left unknown"
    for unit in units[:3]:
        board.add(result(unit))
    assert board.pace(board.start + 1200) == "0.0025 a second, 1:00:00 left"


def test_board_shows_running_means(units, result):
    board = Board(units)
    for unit in units[:2]:
        board.add(result(unit))
    mean = 50 * sum(result(unit).test_accuracy for unit in units[:2])
    assert "MUTAG SEP-G (best) val " in board.line()
    assert board.line().endswith(f"test {mean:.2f}")
    out = io.StringIO()
    Console(file=out, width=80).print(board.table())
    assert f"{mean:.2f}" in out.getvalue()
    assert "2/6" in out.getvalue()
    assert "0/6" in out.getvalue()


def test_reporter_without_terminal_prints_lines(units, result, monkeypatch):
    out = io.StringIO()
    reporter = Reporter(Board(units), Console(file=out))
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
    assert ("12/12" in shown) is True
    assert ("trainings" in shown) is not terminal
