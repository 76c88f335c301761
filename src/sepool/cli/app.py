"""The application: options of ``sepool`` itself and the commands of this package."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import sepool
from sepool.cli.doctor import check_installation
from sepool.cli.errors import EXIT_CODES, USAGE
from sepool.cli.explore import explore
from sepool.cli.graphrag import graphrag
from sepool.cli.group import CommandGroup, add_commands
from sepool.cli.options import Json
from sepool.cli.plot import plot
from sepool.cli.plugins import CommandSpec
from sepool.cli.score import score
from sepool.cli.tree import tree


def doctor(as_json: Json = False) -> None:
    """List installed and missing packages."""
    raise typer.Exit(check_installation(as_json))


COMMANDS: tuple[CommandSpec, ...] = (
    ("tree", tree, "sepool tree graph.txt --height 3 -o tree.json --labels clusters.csv"),
    ("plot", plot, "sepool plot graph.txt --kind levels -o levels.svg"),
    ("explore", explore, "sepool explore graph.txt --height 4"),
    ("score", score, "sepool score graph.txt sepool.csv louvain.clu --truth teams.csv"),
    (
        "graphrag",
        graphrag,
        "sepool graphrag entities.parquet relationships.parquet -o communities.parquet",
    ),
    ("doctor", doctor, "sepool doctor"),
)

app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    rich_markup_mode=None,  # plain text: quick, and the same in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
add_commands(app, COMMANDS)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"sepool {sepool.__version__}")
        raise typer.Exit


Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
]


@app.callback(
    invoke_without_command=True,
    epilog=f"'sepool COMMAND --help' shows the options of a command and an example. {EXIT_CODES}",
)
def main(context: typer.Context, debug: Debug = False, version: Version = False) -> None:
    """Coding trees of least structural entropy: the hierarchy hidden in a graph."""
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(USAGE)
