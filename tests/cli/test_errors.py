from __future__ import annotations

import pytest
import typer

from sepool.cli.errors import one_line_errors
from sepool.cli.plugins import PluginError
from sepool.extras import MissingPackage


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("height must be 1 to 64,\ngot 0"), 2, "height must be 1 to 64, got 0"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), 2, "a.txt: No such file or"),
        (MissingPackage("this needs bokeh"), 1, "this needs bokeh"),
        (PluginError("plug-in demo fails"), 1, "plug-in demo fails"),
        (RuntimeError("no"), 1, "RuntimeError: no (--debug shows where)"),
        (MemoryError(), 1, "not enough memory; choose a smaller input"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_one_line_errors_of_any_error_prints_one_line(capsys, error, code, line, debug):
    with pytest.raises(typer.Exit) as end, one_line_errors(debug):
        raise error
    assert end.value.exit_code == code
    captured = capsys.readouterr()
    assert captured.out == ""
    *trace, last = captured.err.splitlines()
    assert last.startswith(f"sepool: {line}")
    assert bool(trace) == debug


def test_one_line_errors_of_typer_exceptions_passes_them_on():
    for end in (typer.Exit(3), typer.BadParameter("no"), typer.Abort()):
        with pytest.raises(type(end)), one_line_errors(False):
            raise end
