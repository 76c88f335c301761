"""The command group ``sepool``: plug-ins on demand, errors on one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from sepool.cli.errors import (
    INTERRUPTED,
    USAGE,
    flush_output,
    is_usage_error,
    one_line_errors,
    print_error,
    usage_message,
)
from sepool.cli.plugins import CommandSpec, load_plugins, missing_command


class Command(TyperCommand):
    """A command whose usage line shows required arguments without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]


class CommandGroup(TyperGroup):
    """The commands of this package and, loaded on demand, those of plug-ins."""

    plugin_failures: dict[str, str] | None = None  # None until the plug-ins are loaded

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, those of plug-ins last."""
        self._load_plugins()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None; plug-ins are loaded for names other than this package's."""
        if cmd_name not in self.commands:
            self._load_plugins()
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first argument; the error for one that is missing names why."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            if not is_usage_error(error):
                raise
            failures = self.plugin_failures or {}
            reason = missing_command(args[0], usage_message(error), failures)
            raise reason or error from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options; ``--debug`` may follow the command as well."""
        if "--debug" in args:
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with one_line_errors(bool(ctx.params.get("debug"))):
            super().invoke(ctx)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line and exit."""
        _open_closed_streams()
        try:
            with one_line_errors(debug=False):  # of help and options; `invoke` has its own
                code = super().main(*args, **{**options, "standalone_mode": False})
        except typer.Exit as end:
            code = end.exit_code
        except typer.Abort:  # of Ctrl-C, in some versions of typer
            code = INTERRUPTED
        except Exception as error:
            if not is_usage_error(error):
                raise
            print_error(usage_message(error))
            code = USAGE
        sys.exit(flush_output(code))

    def _load_plugins(self) -> None:
        if self.plugin_failures is None:
            commands, self.plugin_failures = load_plugins()
            app = typer.Typer(rich_markup_mode=None)
            add_commands(app, commands)
            # Own commands come first, and are never replaced.
            self.commands = {**self.commands, **typer.main.get_group(app).commands, **self.commands}


def add_commands(app: typer.Typer, commands: Iterable[CommandSpec]) -> None:
    """Add commands to a typer application, each with an example below its help."""
    for name, function, example in commands:
        app.command(name, cls=Command, epilog=f"Example: {example}")(function)


def _open_closed_streams() -> None:
    """Redirect streams that the caller has closed (``>&-``) to the null device."""
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)  # no other file shall have the number 0
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_WRONLY)  # reuses the number of the closed one
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8"))
