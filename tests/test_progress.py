from __future__ import annotations

import sys

from sepool.progress import progress_bar


def test_progress_bar_appears_on_a_terminal_alone(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("reading graph.txt") as update:
        update(0.5, "merge")
    with progress_bar("reading graph.txt", show=False) as update:
        assert update is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with progress_bar("reading graph.txt") as update:
        assert update is None
    assert capsys.readouterr().out == ""


def test_progress_bar_without_rich_yields_none(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with progress_bar("trees") as update:
        assert update is None
