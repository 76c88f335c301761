"""How the command line ends: errors are one line on stderr, and every end has its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from sepool.extras import MissingPackage

FAILURE, USAGE, INTERRUPTED, UNREAD = 1, 2, 130, 141
EXIT_CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong usage or input, 130 stopped by Ctrl-C, 141 nobody reads "
    "the output any more."
)
_BAD_INPUT = (
    *(ValueError, FileNotFoundError, FileExistsError),
    *(IsADirectoryError, NotADirectoryError, PermissionError),
)
# Commands that the second distribution adds.
_EXPERIMENTS = ("reproduce", "report", "list")
# What values must be, by the name that pydantic has for what is wrong with them.
_MUST_BE = {
    "int_parsing": "a whole number, got {input!r}",
    "float_parsing": "a number, got {input!r}",
    "greater_than_equal": "at least {ge:g}, got {input}",
}


class Command(TyperCommand):
    """One command."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line; typer puts braces around what is required, as if it were a choice."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Commands(TyperGroup):
    """All commands under one name; whatever goes wrong in one of them ends here."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the options; ``--debug`` may stand behind the command as well."""
        if "--debug" in args:
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a name; those of an absent plug-in name the package to install."""
        if args[0] in _EXPERIMENTS and self.get_command(ctx, args[0]) is None:
            text = f"sepool {args[0]} needs sepool-experiments: pip install sepool-experiments"
            raise typer.Exit(say(FAILURE, f"{text} (in a clone: pip install ./experiments)"))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        with one_line_errors(bool(ctx.params.get("debug"))):
            super().invoke(ctx)
            sys.stdout.flush()  # a reader who has gone shows now

    def main(self, *args: Any, **options: Any) -> Any:
        """Runs the command line and leaves the program."""
        _open_closed_streams()
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except Exception as error:
            if not _is_usage(error):
                raise
            code = say(USAGE, _usage_line(error))
        sys.exit(code)


@contextmanager
def one_line_errors(debug: bool) -> Iterator[None]:
    """Turns exceptions into a line on stderr and an exit code.

    Args:
        debug: print the traceback as well.

    Raises:
        typer.Exit: with the exit code.
    """
    try:
        yield
        return
    except KeyboardInterrupt:
        code, text = INTERRUPTED, "interrupted"
    except BrokenPipeError:  # who reads our output wants no more of it, as in `sepool ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left of it
        raise typer.Exit(UNREAD) from None
    except MissingPackage as error:
        code, text = FAILURE, str(error)
    except _BAD_INPUT as error:
        code, text = USAGE, str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}"
    except Exception as error:
        if isinstance(error, (typer.Exit, typer.Abort)) or _is_usage(error):
            raise
        code, text = FAILURE, f"{type(error).__name__}: {error} (--debug shows where)"
    if debug:
        traceback.print_exc()
    raise typer.Exit(say(code, text))


def say(code: int, text: str) -> int:
    """Prints why the program ends, on one line, and returns its exit code."""
    print(f"sepool: {' '.join(text.split())}", file=sys.stderr)
    return code


def _open_closed_streams() -> None:
    """Where the caller has closed a stream (``>&-``), what is said there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)  # takes the number that is free
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


def _is_usage(error: Exception) -> bool:
    """Whether typer complains about the command line; where its classes are differs by version."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def _usage_line(error: Any) -> str:
    context = getattr(error, "ctx", None)
    where = f" (see {context.command_path} --help)" if context is not None else ""
    return f"{_complaint(error).rstrip('.')}{where}"


def _complaint(error: Any) -> str:
    """What typer says; where it reads values with pydantic, it leaves out which one is wrong."""
    found: list[Any] = getattr(error.__cause__, "errors", list)()
    if not found:
        return str(error.format_message())
    must_be = _MUST_BE.get(found[0]["type"])
    if must_be is None:
        return f"{error.format_message().rstrip('.')}, got {found[0]['input']!r}"
    said = must_be.format(input=found[0]["input"], **found[0].get("ctx", {}))
    return f"{error.param.opts[0]} must be {said}"
