"""The commands as plug-ins of ``sepool``: help, usage errors, missing packages."""

from __future__ import annotations

import os
import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sepool.cli import app as cli
from sepool_experiments.cli import COMMANDS

GROUP = get_command(cli.app)
NAMES = [name for name, *_ in COMMANDS]


@pytest.mark.parametrize("name", NAMES)
def test_help_of_command_explains_every_parameter(name):
    for parameter in GROUP.get_command(None, name).params:
        assert parameter.help, parameter.name
    output = CliRunner().invoke(cli.app, [name, "--help"]).output
    assert re.search(rf" {name} \[OPTIONS\]( \[?[A-Z]+\]?)?$", output.splitlines()[0])
    assert f"Example: sepool {name}" in output
    assert "--json" in output


@pytest.mark.parametrize("name", NAMES)
def test_example_of_command_parses(name):
    command = GROUP.get_command(None, name)
    example = command.epilog.removeprefix("Example: sepool ").split()
    with command.make_context(name, example[1:]) as context:
        assert context.params


@pytest.mark.parametrize("option", [("--workers", "-1"), ("--gpu-share", "x")])
def test_wrong_value_is_named(option):
    done = CliRunner().invoke(cli.app, ["reproduce", "table1", *option])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    message = done.stderr.partition(" (see ")[0]
    assert all(word in message for word in option)


@pytest.mark.parametrize(
    ("package", "args"),
    [
        ("torch", ["reproduce", "table1", "--datasets", "MUTAG"]),
        ("torch_geometric", ["reproduce", "figure3", "--quick"]),
    ],
)
def test_command_without_package_names_it(without, tmp_path, package, args):
    done = without(package, *args)
    assert re.fullmatch(rf"sepool: \S+ needs {package}: pip install .+\n", done.stderr)
    assert (done.returncode, done.stdout) == (1, "")
    assert os.listdir(tmp_path) == []
