"""The command line: help, usage errors, pipes, interrupts, missing packages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import sepool
from sepool.cli import app as cli
from sepool.cli.errors import EXIT_CODES
from sepool.extras import install_command

GROUP = get_command(cli.app)
COMMANDS = [name for name, *_ in cli.COMMANDS]


def start(*args: str, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sepool", *args]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if os.name == "posix":  # background processes of a shell ignore Ctrl-C
        pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, **{**pipes, **options})


def run(*args: str, **options) -> tuple[int, str, str]:
    with start(*args, **options) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


class TestHelp:
    def test_help_lists_commands_and_exit_codes(self):
        output = CliRunner().invoke(cli.app, ["--help"]).output
        for name in COMMANDS:
            assert re.search(rf"^  {name} .*[^.]\.$", output, re.M), name
        assert EXIT_CODES in " ".join(output.split())

    @pytest.mark.parametrize("name", COMMANDS)
    def test_help_of_command_explains_every_parameter(self, name):
        command = GROUP.commands[name]
        for parameter in command.params:
            assert parameter.help, parameter.name
        output = CliRunner().invoke(cli.app, [name, "--help"]).output
        assert f"Example: sepool {name}" in output
        assert "--json" in output
        usage = output.splitlines()[0]  # without braces
        assert re.search(rf" {name} \[OPTIONS\]( [A-Z]+(\.\.\.)?)*$", usage)

    @pytest.mark.parametrize("name", COMMANDS)
    def test_example_of_command_parses(self, name):
        example = GROUP.commands[name].epilog.removeprefix("Example: sepool ").split()
        with GROUP.commands[name].make_context(name, example[1:]) as context:
            assert context.params

    def test_app_without_command_prints_usage(self):
        done = CliRunner().invoke(cli.app, [])
        assert done.exit_code == 2
        assert "Usage:" in done.stderr

    def test_version_is_printed(self):
        assert CliRunner().invoke(cli.app, ["--version"]).output == f"sepool {sepool.__version__}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["trea"], "No such command 'trea'. Did you mean 'tree'? (see "),
        (["tree"], "Missing argument 'graph' (see "),
        (["tree", "a.txt", "--heigth", "2"], "No such option: --heigth"),
    ],
)
def test_wrong_usage_prints_one_line(args, message):
    done = CliRunner().invoke(cli.app, args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.lower().startswith(f"sepool: {message}".lower())
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith(" --help)\n")


@pytest.mark.parametrize(
    ("args", "option", "value"),
    [
        (["tree", "a.txt", "--height", "abc"], "--height", "abc"),
        (["tree", "a.txt", "--seed", "1.5"], "--seed", "1.5"),
    ],
)
def test_wrong_value_is_named(args, option, value):
    done = CliRunner().invoke(cli.app, args)
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    message = done.stderr.partition(" (see ")[0]
    assert option in message
    assert value in message
    assert "Input should be" not in message


class TestPipes:
    def test_output_in_a_pipe_is_plain_text(self, tmp_path):
        path = tmp_path / "ring.txt"
        path.write_text("".join(f"{i} {(i + 1) % 3000}\n" for i in range(3000)))
        for args in (["tree", str(path)], ["doctor"], ["--help"]):
            code, out, err = run(*args)
            assert (code, err) == (0, "")
            assert "\x1b" not in out
            assert "\r" not in out

    @pytest.mark.skipif(os.name != "posix", reason="POSIX pipes")
    def test_broken_pipe_exits_141(self):
        read, write = os.pipe()
        os.close(read)
        with start("doctor", stdout=write) as process:
            os.close(write)
            assert process.stderr.read() == ""
        assert process.returncode == 141

    @pytest.mark.skipif(os.name != "posix", reason="POSIX shell")
    @pytest.mark.parametrize(
        ("command", "code"), [("tree graph.txt", 0), ("tree nothing.txt", 2), ("trea", 2)]
    )
    def test_closed_streams_keep_the_exit_code(self, tmp_path, command, code):
        (tmp_path / "graph.txt").write_text("a b\n")
        for closed in (">&-", "2>&-", ">&- 2>&-"):
            shell = f'"{sys.executable}" -m sepool {command} {closed}'
            done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == code
            assert bool(done.stdout) == (code == 0 and closed == "2>&-")
            assert bool(done.stderr) == (code != 0 and closed == ">&-")
            assert "Error" not in done.stderr

    @pytest.mark.skipif(os.name != "posix", reason="POSIX shell")
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize(
        ("command", "code", "message"),
        [
            ("tree - <&-", 2, "sepool: -: standard input is closed; name a file, or pipe one in\n"),
            ("--version > /dev/full", 1, "No space left on device"),
            ("--help > /dev/full", 1, "No space left on device"),
            ("tree graph.txt > /dev/full", 1, "No space left on device"),
            ("tree nothing.txt 2> /dev/full", 2, ""),
            ("tree /dev/zero", 2, "sepool: /dev/zero: a line has more than 64 MB; set SEPOOL_MAX_"),
        ],
    )
    def test_odd_streams_end_with_one_line(self, tmp_path, command, code, message, unbuffered):
        (tmp_path / "graph.txt").write_text("a b\n")
        done = subprocess.run(
            ["sh", "-c", f'"{sys.executable}" -m sepool {command}'],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (code, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == bool(message)
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize("module", ["typer", "numpy", "sepool.cli.app"])
def test_ctrl_c_during_imports_prints_one_line(tmp_path, module):
    """The import of a module waits for the signal, and hides KeyboardInterrupt as some do."""
    program = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError(name)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
from sepool.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sepool: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_ctrl_c_leaves_no_files(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "large.txt"
    pairs = np.sort(rng.integers(0, 200_000, (1_000_000, 2)))
    path.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    args = ["tree", str(path), "--height", "6", "-o", str(tmp_path / "tree.json")]
    with start(*args) as process:
        time.sleep(2.5)  # reading or searching
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "sepool: interrupted\n")
    assert os.listdir(tmp_path) == ["large.txt"]


class TestMissingPackages:
    @pytest.mark.parametrize(
        ("package", "args", "extra"),
        [
            ("matplotlib", ["plot", "graph.txt"], "viz"),
            ("matplotlib", ["tree", "graph.txt", "--plot", "tree.png"], "viz"),
            ("bokeh", ["explore", "graph.txt", "--no-open"], "viz"),
        ],
    )
    def test_command_without_package_names_the_extra(self, without, tmp_path, package, args, extra):
        (tmp_path / "graph.txt").write_text("a b\nb c\n")
        done = without(package, *args)
        command = install_command(f"sepool[{extra}]")
        assert done.stderr == f"sepool: this needs {package}: {command}\n"
        assert (done.returncode, done.stdout) == (1, "")
        assert os.listdir(tmp_path) == ["graph.txt"]

    def test_app_without_typer_names_the_extra(self, without):
        done = without("typer")
        assert done.returncode == 1
        command = install_command("sepool[cli]")
        assert done.stderr == f"sepool: the command line needs typer and rich: {command}\n"

    def test_doctor_without_typer_runs(self, without):
        done = without("typer,click,rich", "doctor")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.split()[:2] == ["sepool", sepool.__version__]
        done = without("typer", "doctor", "--json")
        assert json.loads(done.stdout)["sepool"] == sepool.__version__

    def test_tree_without_optional_packages_runs(self, without, tmp_path):
        (tmp_path / "graph.txt").write_text("a b\nb c\n")
        others = "torch,torch_geometric,pandas,scipy,matplotlib,bokeh,networkx,igraph,ray"
        done = without(others, "tree", "graph.txt", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["nodes"] == 3
