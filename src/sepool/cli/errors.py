"""Exit codes and one-line error messages of the command line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from sepool.cli.plugins import PluginError
from sepool.extras import MissingPackage

FAILURE, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
EXIT_CODES = (
    "Exit codes: 0 success, 1 failure, 2 wrong usage or input, 130 interrupted by Ctrl-C, "
    "141 broken pipe."
)
_BAD_INPUT: tuple[type[Exception], ...] = (
    *(ValueError, FileNotFoundError, FileExistsError),
    *(IsADirectoryError, NotADirectoryError, PermissionError),
)
# Expected values by pydantic's name of the error.
_EXPECTED = {
    "int_parsing": "a whole number, got {input!r}",
    "float_parsing": "a number, got {input!r}",
    "greater_than_equal": "at least {ge:g}, got {input}",
}


@contextmanager
def one_line_errors(debug: bool) -> Iterator[None]:
    """Turn exceptions into one line on stderr and an exit code."""
    try:
        yield
    except BrokenPipeError:  # as in `sepool ... | head`
        _discard(sys.stdout)
        raise typer.Exit(BROKEN_PIPE) from None
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, (typer.Exit, typer.Abort)) or is_usage_error(error):
            raise
        if debug:
            traceback.print_exc()
        code, message = _describe(error)
        print_error(message)
        raise typer.Exit(code) from None


def print_error(message: str) -> None:
    """Print a message on stderr, as one line."""
    try:
        print(f"sepool: {' '.join(message.split())}", file=sys.stderr)
    except OSError:  # closed, or a full disk
        _discard(sys.stderr)


def flush_output(code: int) -> int:
    """Write what is left of the output; return an exit code, that of an earlier error if any."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        return code or BROKEN_PIPE
    except OSError as error:  # a full disk
        _discard(sys.stdout)
        if not code:
            print_error(f"cannot write to standard output: {error.strerror}")
        return code or FAILURE
    return code


def _discard(stream: TextIO) -> None:
    """Send a stream to the null device: Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_usage_error(error: BaseException) -> bool:
    """Return True for usage errors of typer, whose class depends on its version."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def usage_message(error: Any) -> str:
    """Return the message of a usage error and the command whose help explains it."""
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    return f"{_usage_text(error).rstrip('.')}{hint}"


def _describe(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of an exception."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, MemoryError):
        return FAILURE, "not enough memory; choose a smaller input, or a machine with more memory"
    if isinstance(error, (MissingPackage, PluginError)):
        return FAILURE, str(error)
    if isinstance(error, _BAD_INPUT):
        reason = getattr(error, "strerror", None)
        return USAGE, f"{getattr(error, 'filename', '')}: {reason}" if reason else str(error)
    return FAILURE, f"{type(error).__name__}: {error} (--debug shows where)"


def _usage_text(error: Any) -> str:
    """Return typer's message; where pydantic validates, add the option and the wrong value."""
    details: list[Any] = getattr(error.__cause__, "errors", list)()
    if not details:
        return str(error.format_message())
    expected = _EXPECTED.get(details[0]["type"])
    if expected is None:
        return f"{error.format_message().rstrip('.')}, got {details[0]['input']!r}"
    text = expected.format(input=details[0]["input"], **details[0].get("ctx", {}))
    return f"{error.param.opts[0]} must be {text}"
