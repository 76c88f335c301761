"""The command line: ``sepool tree``, ``plot``, ``explore``, ``reproduce``, ``report`` and so on.

A command is a function in a file of its own, but for ``doctor``, most of which must run without
typer; `COMMANDS` says under which name, and with which example. Errors end in `sepool.errors`.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import sepool
from sepool.bench.cli import list_, report, reproduce
from sepool.cli_doctor import examine
from sepool.cli_options import Json
from sepool.cli_tree import tree
from sepool.errors import EXIT_CODES, USAGE, Command, Commands
from sepool.viz.cli import explore, plot


def doctor(as_json: Json = False) -> None:
    """Say what is installed, what is missing and how to get it."""
    if code := examine(as_json):
        raise typer.Exit(code)


COMMANDS = (
    ("tree", tree, "sepool tree graph.txt --height 3 -o tree.json --labels clusters.csv"),
    ("plot", plot, "sepool plot graph.txt --kind levels -o levels.svg"),
    ("explore", explore, "sepool explore graph.txt --height 4"),
    ("reproduce", reproduce, "sepool reproduce table1 --datasets MUTAG --systems SEP-G,GCN"),
    ("report", report, "sepool report --against paper --results results --out report"),
    ("list", list_, "sepool list systems --json"),
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


for _name, _function, _example in COMMANDS:
    app.command(_name, cls=Command, epilog=f"Example: {_example}")(_function)
