"""Commands of plug-ins: installed, absent, broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sepool.cli import plugins
from sepool.cli.app import app
from sepool.extras import install_command

Install = Callable[..., None]
ABSENT = f"needs sepool-experiments: {install_command('sepool-experiments')}"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Replace the installed plug-ins by modules of the given code; without any, by none."""

    def install(**modules: str) -> None:
        entries = []
        for name, code in modules.items():
            (tmp_path / f"{name}.py").write_text(code)
            monkeypatch.delitem(sys.modules, name, raising=False)
            entries.append(EntryPoint(name, f"{name}:COMMANDS", "sepool.commands"))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(plugins, "entry_points", lambda group: entries)

    return install


def _run(*args: str) -> Result:
    return CliRunner().invoke(app, args)


GREET = """
def greet(name: str) -> None:
    "Print a greeting."
    print(f"hello {name}")
    if name == "nobody":
        raise ValueError("expected a name")

COMMANDS = (("greet", greet, "sepool greet world"),)
"""


def test_plugin_command_runs_like_others(install: Install) -> None:
    install(greetings=GREET)
    assert _run("greet", "world").output == "hello world\n"
    wrong = _run("greet", "nobody")
    assert (wrong.exit_code, wrong.stderr) == (2, "sepool: expected a name\n")
    assert "Did you mean 'greet'?" in _run("gret").stderr
    assert "Example: sepool greet world" in _run("greet", "--help").output
    listed = _run("--help").output
    assert listed.index("  tree ") < listed.index("  greet ")


def test_plugin_command_never_replaces_an_own_one(install: Install) -> None:
    install(other=GREET.replace('"greet"', '"doctor"'))
    assert _run("doctor").output.startswith("sepool ")
    assert "List installed and missing packages." in _run("--help").output


def test_plugins_are_loaded_on_demand(install: Install, tmp_path: Path) -> None:
    install(exiting="raise SystemExit(7)")
    graph = tmp_path / "graph.txt"
    graph.write_text("a b\n")
    assert _run("tree", str(graph)).exit_code == 0
    assert "exiting" not in sys.modules


@pytest.mark.parametrize("name", plugins.EXPERIMENTS)
def test_experiments_that_are_absent_are_named(install: Install, name: str) -> None:
    install()
    done = _run(name, "table1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"sepool: sepool {name} {ABSENT}")
    assert len(done.stderr.splitlines()) == 1
    assert f"  {name} " not in _run("--help").output
    assert "No such command 'unknown'" in _run("unknown").stderr


BROKEN = {
    "raise RuntimeError('no GPU')": "RuntimeError: no GPU",
    "import missing_package": "ModuleNotFoundError: No module named 'missing_package'",
    "COMMANDS = (('greet', print),)": "ValueError: not enough values to unpack",
    "COMMAND = ()": "AttributeError: module 'broken' has no attribute 'COMMANDS'",
    "from sepool.extras import MissingPackage as E; raise E('this needs x: pip install x')": (
        "this needs x: pip install x"
    ),
}


@pytest.mark.parametrize("code", BROKEN)
def test_broken_plugin_is_named_where_its_command_is_missing(
    install: Install, tmp_path: Path, code: str
) -> None:
    install(broken=code, greetings=GREET)
    graph = tmp_path / "graph.txt"
    graph.write_text("a b\n")
    assert json.loads(_run("tree", str(graph), "--json").stdout)["nodes"] == 2
    assert _run("greet", "world").output == "hello world\n"
    assert _run("--help").stderr == ""
    for name in ("reproduce", "unknown"):
        done = _run(name)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"sepool: No such command '{name}'")
        assert f"; plug-in broken fails to load: {BROKEN[code]}" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_doctor_names_broken_plugins(install: Install) -> None:
    install(broken="raise RuntimeError('no GPU')")
    done = _run("doctor", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["broken"] == "fails to load: RuntimeError: no GPU"


@pytest.mark.parametrize("name", plugins.EXPERIMENTS)
def test_experiments_that_are_installed_add_their_commands(name: str) -> None:
    pytest.importorskip("sepool_experiments")
    assert f"Example: sepool {name}" in _run(name, "--help").output
    assert f"  {name} " in _run("--help").output


def test_experiments_that_cannot_be_imported_are_named(
    without: Callable[..., object], tmp_path: Path
) -> None:
    pytest.importorskip("sepool_experiments")
    done = without("sepool_experiments", "reproduce", "table1")
    assert done.returncode == 1
    assert done.stderr.startswith("sepool: No such command 'reproduce'")
    assert "plug-in sepool-experiments fails to load: ModuleNotFoundError: " in done.stderr
    (tmp_path / "graph.txt").write_text("a b\n")
    assert without("sepool_experiments", "tree", "graph.txt").returncode == 0
    assert "fails to load" in without("sepool_experiments", "doctor").stdout
