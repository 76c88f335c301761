"""Errors as the command line shows them: one line, and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130


@contextmanager
def one_line_errors(debug: bool) -> Iterator[None]:
    """Turns exceptions into a line on stderr and an exit code."""
    try:
        yield
        return
    except KeyboardInterrupt:
        code, text = INTERRUPTED, "interrupted"
    except (ValueError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        code, text = BAD_INPUT, str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}"
    except Exception as error:
        code, text = FAILURE, f"{type(error).__name__}: {error} (--debug shows where)"
    if debug:
        traceback.print_exc()
    print(f"sepool: {text}", file=sys.stderr)
    raise typer.Exit(code)
