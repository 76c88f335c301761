"""Runs the code on the pages of the project, and writes down what it prints.

    python tools/pages.py [README.md docs/tutorials/networks.md ...]

Blocks of a page build on those above them and run in a folder of their own, beside a copy of
`examples/`:

- ``python`` runs; a ``text`` block that follows holds what it printed;
- ``console`` holds commands (``$ ...``) and what they printed; ``sh`` holds commands alone.

A comment above a block may say ``<!-- needs: MUTAG, gpu -->``: a dataset, a GPU or a package,
without which the block is left out, and where it runs its output is not compared; or
``<!-- not run: why -->``. All else on the pages is run by the tests (`tests/test_pages.py`).
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
from types import ModuleType

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md")))]
BLOCK = re.compile(
    r"(?:^<!-- (needs|not run): ([^\n]*) -->\n+)?^( *)```(\w+)[^\n]*\n(.*?)^\3```$",
    re.MULTILINE | re.DOTALL,
)
CODE = ("python", "sh", "console")
TIME = re.compile(r"\b\d[\d.]* (us|ms|s|minutes)\b")


@dataclass(frozen=True)
class Block:
    """A piece of code on a page."""

    language: str
    content: str
    line: int
    span: tuple[int, int]
    needs: tuple[str, ...] = ()
    not_run: str = ""

    def missing(self) -> str:
        """Why it cannot run here; empty if it can."""
        if self.not_run:
            return f"not run: {self.not_run}"
        return "; ".join(filter(None, map(absent, self.needs)))


def absent(need: str) -> str:
    """What is to be done about a need; empty if it is met."""
    if need == "gpu":
        if find_spec("torch") is None:
            return "needs a GPU and torch"
        import torch

        return "" if torch.cuda.is_available() else "needs a GPU"
    if need[0].isupper():
        root = Path(os.environ.get("SEPOOL_DATA", "."))
        there = any((root / family / need / "raw").is_dir() for family in ("TU", "Planetoid"))
        return "" if there else f"needs {need}: set SEPOOL_DATA to the folder of the datasets"
    return "" if find_spec(need) else f"needs the package {need}"


def blocks_of(text: str) -> list[Block]:
    """The code on a page, and what it prints."""
    found = []
    for match in BLOCK.finditer(text):
        kind, words, indent, language, content = match.groups()
        if indent:  # inside a tab or a list
            content = re.sub(f"^{indent}", "", content, flags=re.MULTILINE)
        needs = tuple(re.split(r",\s*", words)) if kind == "needs" else ()
        line = text.count("\n", 0, match.start(5))
        not_run = words if kind == "not run" else ""
        found.append(Block(language, content, line, match.span(5), needs, not_run))
    return found


@dataclass
class Page:
    """A page whose code runs in the current folder.

    Args:
        name: the path of the page, from the root of the project.
    """

    name: str
    module: ModuleType = field(default_factory=lambda: ModuleType("page"))

    def rendered(self, update: bool = False) -> str:
        """The text of the page with what its code prints now.

        Args:
            update: also write down what blocks print that need something which is here.
        """
        text = (ROOT / self.name).read_text(encoding="utf-8")
        parts, end, printed = [], 0, None
        for block in blocks_of(text):
            content = block.content
            if block.language == "text" and printed is not None:
                content = printed
            printed = None
            if block.language in CODE and not block.missing():
                out = self.run(block)
                if update or not block.needs:
                    printed = out if block.language == "python" else None
                    content = out if block.language == "console" else content
            parts += [text[end : block.span[0]], content if content != block.content else None]
            end = block.span[1]
            if parts[-1] is None:
                parts[-1] = text[slice(*block.span)]
        return "".join([*parts, text[end:]])

    def run(self, block: Block) -> str:
        """What a block prints: a console block with its commands."""
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
        printed = io.StringIO()
        sys.modules["page"] = self.module  # where PyG looks for the types in a layer's signature
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, self.module.__dict__)
        finally:
            del sys.modules["page"]
        return printed.getvalue()


def shell(commands: str) -> str:
    """What commands print; `sepool` and `python` are those of this Python."""
    with TemporaryDirectory() as folder:
        for name, words in (("sepool", "-m sepool"), ("python", "")):
            path = Path(folder, name)
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            path.chmod(0o755)
        way = os.pathsep.join([folder, os.environ["PATH"]])
        done = subprocess.run(
            ["sh", "-e", "-c", commands], capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": way, "COLUMNS": "100"},
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{commands.strip()!r} failed: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder as the current one, with the examples and, where there are any, the datasets."""
    before, data = Path.cwd(), os.environ.get("SEPOOL_DATA")
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        os.chdir(folder)
        if data:  # what is cached beside the data must not end up in the original
            os.environ["SEPOOL_DATA"] = _linked(before / data, Path(folder, "data"))
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            if data:
                os.environ["SEPOOL_DATA"] = data


def _linked(data: Path, folder: Path) -> str:
    """The same datasets in another folder, without copies of them."""
    for raw in data.glob("*/*/raw"):
        (folder / raw.relative_to(data)).parent.mkdir(parents=True)
        (folder / raw.relative_to(data)).symlink_to(raw.resolve())
    if (data / "splits").is_dir():
        (folder / "splits").symlink_to((data / "splits").resolve())
    return str(folder)


def comparable(text: str) -> list[str]:
    """A page without what differs from run to run: how long things took."""
    return [line.rstrip() for line in TIME.sub(r"\1", text).splitlines()]


def main() -> None:
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
