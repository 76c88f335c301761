"""Run the code on the project's pages and write its output into them.

    python tools/pages.py [README.md docs/tutorials/networks.md ...]

The blocks of a page build on each other and run in an empty folder with a copy of `examples/`:

- ``python``: run; a ``text`` block after it holds its output;
- ``console``: commands (``$ ...``) with their output;
- ``sh``: commands.

A comment above a block may say ``<!-- needs: MUTAG, gpu -->`` (a dataset, a GPU or a package: the
block is skipped without it, and its output is not compared) or ``<!-- not run: reason -->``.
`tests/test_pages.py` runs all other blocks.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent, indent
from types import ModuleType

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md")))]
BLOCK = re.compile(
    r"(?:^<!-- (?P<rule>needs|not run): (?P<words>[^\n]*) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<content>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
CODE = ("python", "sh", "console")
DURATION = re.compile(r"\b\d[\d.]* (us|ms|s|minutes)\b")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, at the line of its fence."""

    language: str
    content: str
    line: int
    needs: tuple[str, ...] = ()
    not_run: str = ""

    @classmethod
    def parse(cls, match: re.Match[str]) -> Block:
        """Make a block of a match of `BLOCK`."""
        rule, words = match["rule"], match["words"]
        return cls(
            match["language"],
            dedent(match["content"]) if match["indent"] else match["content"],
            match.string.count("\n", 0, match.start("content")),
            tuple(re.split(r",\s*", words)) if rule == "needs" else (),
            words if rule == "not run" else "",
        )

    def missing(self) -> str:
        """Return the reason not to run the block; empty if there is none."""
        if self.not_run:
            return f"not run: {self.not_run}"
        return "; ".join(filter(None, map(unmet, self.needs)))


def unmet(need: str) -> str:
    """Return the remedy for an unmet need; empty if it is met."""
    if need == "gpu":
        import torch

        return "" if torch.cuda.is_available() else "needs a GPU"
    if need[0].isupper():
        root = Path(os.environ.get("SEPOOL_DATA", "."))
        present = any((root / family / need / "raw").is_dir() for family in ("TU", "Planetoid"))
        return "" if present else f"needs {need}: set SEPOOL_DATA to the folder of the datasets"
    return "" if find_spec(need) else f"needs the package {need}"


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block.parse(match) for match in BLOCK.finditer(text)]


@dataclass
class Page:
    """A page, by its path from the root; its code runs in the current folder."""

    name: str
    module: ModuleType = field(default_factory=lambda: ModuleType("page"))

    def rendered(self, update: bool = False) -> str:
        """Return the text of the page with the output of its code.

        Args:
            update: also write the output of blocks whose needs are met here.
        """
        output = None  # of the block above

        def fill(match: re.Match[str]) -> str:
            nonlocal output
            block = Block.parse(match)
            content, output = output if block.language == "text" else None, None
            if block.language in CODE and not block.missing():
                printed = self.run(block)
                if update or not block.needs:
                    output = printed if block.language == "python" else None
                    content = printed if block.language == "console" else None
            if content is None or content == block.content:
                return match[0]
            start, end = (place - match.start() for place in match.span("content"))
            return match[0][:start] + indent(content, match["indent"]) + match[0][end:]

        return BLOCK.sub(fill, (ROOT / self.name).read_text(encoding="utf-8"))

    def run(self, block: Block) -> str:
        """Return the output of a block; that of a console block includes its commands."""
        try:
            if block.language == "python":
                return self._run_python(block)
            if block.language == "console":
                commands = re.findall(r"^\$ .*\n", block.content, re.MULTILINE)
                return "".join(command + shell(command[2:]) for command in commands)
            return shell(block.content)
        except Exception as error:
            place = f"{self.name}:{block.line}"
            raise AssertionError(f"{place}: {type(error).__name__}: {error}") from error

    def _run_python(self, block: Block) -> str:
        code = compile("\n" * block.line + block.content, str(ROOT / self.name), "exec")
        output = io.StringIO()
        sys.modules["page"] = self.module  # PyG looks up the types in a layer's signature here
        try:
            with contextlib.redirect_stdout(output):
                exec(code, self.module.__dict__)
        finally:
            del sys.modules["page"]
        return output.getvalue()


def shell(commands: str) -> str:
    """Return the output of commands; `sepool` and `python` run in this interpreter."""
    with TemporaryDirectory() as folder:
        for name, arguments in (("sepool", "-m sepool"), ("python", "")):
            path = Path(folder, name)
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
            path.chmod(0o755)
        search_path = os.pathsep.join([folder, os.environ["PATH"]])
        done = subprocess.run(
            ["sh", "-e", "-c", commands], capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": search_path, "COLUMNS": "100"},
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{commands.strip()!r} failed: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def workplace() -> Iterator[None]:
    """Change to an empty folder with the examples and links to the datasets."""
    before, data = Path.cwd(), os.environ.get("SEPOOL_DATA")
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        os.chdir(folder)
        if data:  # caches are written next to the data: not into the original
            for raw in (before / data).glob("*/*/raw"):
                link = Path(folder, "data", raw.relative_to(before / data))
                link.parent.mkdir(parents=True)
                link.symlink_to(raw.resolve())
            if (splits := before / data / "splits").is_dir():
                Path(folder, "data", "splits").symlink_to(splits.resolve())
            os.environ["SEPOOL_DATA"] = str(Path(folder, "data"))
        try:
            yield
        finally:
            os.chdir(before)
            if data:
                os.environ["SEPOOL_DATA"] = data


def comparable(text: str) -> list[str]:
    """Return the lines of a page without durations, which differ from run to run."""
    return [line.rstrip() for line in DURATION.sub(r"\1", text).splitlines()]


def main() -> None:
    """Write the output of all code into the pages."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in the tests
    for name in sys.argv[1:] or PAGES:
        page = Path(name).resolve().relative_to(ROOT).as_posix()
        before = (ROOT / page).read_text(encoding="utf-8")
        with workplace():
            after = Page(page).rendered(update=True)
        if comparable(after) != comparable(before):
            (ROOT / page).write_text(after, encoding="utf-8")
            print(f"wrote {page}")


if __name__ == "__main__":
    main()
