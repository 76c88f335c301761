"""Command line: ``sepool tree``, ``plot``, ``explore``, ``doctor``, and commands of plug-ins.

`COMMANDS` lists the commands of this package. An installed distribution adds its own through the
entry-point group ``sepool.commands``: each entry point is a sequence of `Added` commands. Errors
are handled in `sepool.errors`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

import sepool
from sepool.cli.doctor import examine
from sepool.cli.options import Json
from sepool.cli.pictures import explore, plot
from sepool.cli.tree import tree
from sepool.errors import EXIT_CODES, USAGE, Command, Commands


def doctor(as_json: Json = False) -> None:
    """Say what is installed, what is missing and how to get it."""
    if code := examine(as_json):
        raise typer.Exit(code)


Added = tuple[str, Callable[..., Any], str]  # name, function, example
COMMANDS: tuple[Added, ...] = (
    ("tree", tree, "sepool tree graph.txt --height 3 -o tree.json --labels clusters.csv"),
    ("plot", plot, "sepool plot graph.txt --kind levels -o levels.svg"),
    ("explore", explore, "sepool explore graph.txt --height 4"),
    ("doctor", doctor, "sepool doctor"),
)

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # plain text: quick, and the same in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sepool {sepool.__version__}")
        raise typer.Exit


Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Version = Annotated[
    bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
]


@app.callback(
    invoke_without_command=True,
    epilog=f"'sepool COMMAND --help' has the options and an example of a command. {EXIT_CODES}",
)
def main(context: typer.Context, debug: Debug = False, version: Version = False) -> None:
    """Coding trees of least structural entropy: the hierarchy hidden in a graph."""
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(USAGE)


def _commands() -> Iterator[Added]:
    """Commands of this package in front of those of plug-ins; ``doctor`` last."""
    yield from COMMANDS[:-1]
    for plugin in sorted(entry_points(group="sepool.commands"), key=lambda entry: entry.name):
        yield from plugin.load()
    yield COMMANDS[-1]


for _name, _function, _example in _commands():
    app.command(_name, cls=Command, epilog=f"Example: {_example}")(_function)
