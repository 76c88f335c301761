"""Runs what the README shows; `make readme` writes what it prints into it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"[\d.]+ (ms|s)$", re.MULTILINE)
NEEDS = ("igraph", "networkx", "rich", "scipy", "torch", "torch_geometric", "typer")


def rendered(text: str) -> str:
    """The text with the output of its code: Python blocks print into the ``text`` block that
    follows, commands (``$ ...``) into the ``console`` block they stand in."""
    names: dict[str, object] = {}  # blocks build on those above them
    printed = io.StringIO()

    def run(block: re.Match[str]) -> str:
        language, content = block.groups()
        if language == "python":
            printed.truncate(printed.seek(0))
            with contextlib.redirect_stdout(printed):
                exec(compile(content, README.name, "exec"), names)
        elif language == "text":
            content = printed.getvalue()
        elif language == "console":
            commands = re.findall(r"^\$ .*\n", content, re.MULTILINE)
            content = "".join(command + answer(command[2:]) for command in commands)
        return f"```{language}\n{content}```"

    return BLOCK.sub(run, text)


def answer(command: str) -> str:
    command = re.sub(r"^sepool\b", lambda _: f"'{sys.executable}' -m sepool", command)
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
def test_code_prints_what_the_readme_shows(tmp_path, monkeypatch):
    for package in NEEDS:
        pytest.importorskip(package)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    assert TIME.sub(r"\1", rendered(text)).splitlines() == TIME.sub(r"\1", text).splitlines()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/design.md"])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        assert "://" in target or ((ROOT / page).parent / target).exists(), target


def test_karate_example(tmp_path):
    pytest.importorskip("networkx")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "karate.png"
    output = answer(f"'{sys.executable}' '{ROOT}/examples/karate.py' --picture '{picture}'")
    assert "33 of 34 members" in output
    assert picture.stat().st_size > 10_000


def test_planted_example():
    output = answer(f"'{sys.executable}' '{ROOT}/examples/planted.py'")
    assert "10 of 10 regions found exactly" in output


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        os.chdir(folder)
        README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
        os.chdir(ROOT)
