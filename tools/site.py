"""Hooks of the site (see mkdocs.yml): pages that live elsewhere, formulas, the command line.

- README files, the changelog, examples and the report become pages, with their pictures; links
  between files of the project become links between pages of the site.
- Formulas become MathML, which browsers draw by themselves.
- Nothing is fetched from elsewhere: search from files has a script of its own.
- ``<!-- commands -->`` becomes a description of every command, read off the program.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

# Pages of the site that are files elsewhere in the project.
ADOPTED = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "benchmarks.md": "benchmarks/README.md",
    "results/rows.md": "results/README.md",
    "results/report.md": "results/report/report.md",
}
THEIR_SHIM, OWN_SHIM = "https://unpkg.com/iframe-worker/shim", "search-from-files.js"
# Tables need the room of the column beside them: the list of sections stands on top instead.
WIDE = ("results.md", "results/report.md", "benchmarks.md")
LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
VARIABLE = re.compile(r"<mi>([A-Za-z])</mi>")
ROLE = re.compile(r":math:<code>(.*?)</code>", re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that live elsewhere, and all pictures of the results."""
    for page, path in ADOPTED.items():
        if (ROOT / path).exists():
            text = (ROOT / path).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "examples.md", content=_examples()))
    for picture in sorted((ROOT / "results").rglob("*.png")):
        place = picture.relative_to(ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Links to files of the project become links to pages, or plain text where there is none."""
    here = page.file.src_uri
    origin = ADOPTED.get(here, "examples.md" if here == "examples.md" else f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        picture, text, target, anchor = link.groups(default="")
        if not target or "://" in target:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        uri, found = _page_of(path)
        if files.get_file_from_path(uri) is None:
            return "" if picture else text
        way = posixpath.relpath(uri, posixpath.dirname(here) or ".")
        return f"{picture}[{text}]({way}{found or anchor})"

    if here in WIDE:
        page.meta["hide"] = ["toc"]
    parts = CODE.split(markdown)
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    text = "".join(parts)
    return text.replace("<!-- commands -->", _commands()) if "<!-- commands -->" in text else text


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Formulas as MathML; the sections of pages that have no list of them beside."""

    def drawn(found: re.Match[str]) -> str:
        display = "block" if found[2] == "[" else "inline"
        return _mathml(found[3], display)

    if page.file.src_uri in WIDE:
        html = html.replace("<h2", _sections(page.toc) + "<h2", 1)
    html = FORMULA.sub(drawn, html)
    return ROLE.sub(lambda found: _mathml(found[1], "inline"), html)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Search from files: a script of our own in place of one from elsewhere."""
    way = posixpath.relpath(OWN_SHIM, posixpath.dirname(page.file.dest_uri) or ".")
    return output.replace(THEIR_SHIM, way)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The same on pages without a source, such as the one for wrong addresses."""
    return output_content.replace(THEIR_SHIM, OWN_SHIM)


def _sections(toc: Any) -> str:
    """Links to the sections below the title of a page."""
    links = [
        f'<li><a href="{part.url}">{part.title}</a></li>' for top in toc for part in top.children
    ]
    return f'<nav class="sections" aria-label="Sections"><ul>{"".join(links)}</ul></nav>\n'


def _mathml(latex: str, display: str) -> str:
    drawn = str(convert(unescape(latex).strip(), display=display))
    # Letters as the font of the text has them: not every machine has a font for formulas.
    drawn = drawn.replace("<mi>log</mi>", '<mo lspace="0.17em" rspace="0.17em">log</mo>')
    return VARIABLE.sub(r'<mi mathvariant="normal" class="variable">\1</mi>', drawn)


def _page_of(path: str) -> tuple[str, str]:
    """The page of the site that a file of the project is on, and the place on it."""
    for page, source in ADOPTED.items():
        if path in (source, posixpath.dirname(source)) and path:
            return page, ""
    if path == "README.md":
        return "index.md", ""
    if path == "examples" or path.startswith("examples/"):
        return "examples.md", "#" + posixpath.basename(path).replace(".", "") if "." in path else ""
    return path.removeprefix("docs/"), ""


def _examples() -> str:
    """All examples on one page."""
    parts = [
        "# Examples",
        "Programs of one file, some of which build on another; the tests run them.",
    ]
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        first = code.split('"""')[1].strip().partition("\n")[0]
        parts += [f"## {path.name}", first, f"```python\n{code}```"]
    return "\n\n".join(parts)


def _commands() -> str:
    """Every command and option of the command line, as it describes itself."""
    os.environ.setdefault("COLUMNS", "100")
    from typer.main import get_command

    from sepool.cli.app import app

    parts = []
    group: Any = get_command(app)
    for name in sorted(group.list_commands(None)):
        command = group.get_command(None, name)
        lines = []
        arguments = []
        for parameter in command.params:
            if parameter.name == "help":
                continue
            if parameter.param_type_name == "argument":
                arguments.append((parameter.metavar or parameter.name).upper())
                names = arguments[-1]
            else:
                names = ", ".join([*parameter.opts, *parameter.secondary_opts])
            usual = parameter.default
            none = usual is None or usual is False or usual == "" or callable(usual)
            shown = "" if none else f"`{usual}`"
            text = (getattr(parameter, "help", "") or "").replace("|", "\\|")
            lines.append(f"| `{names}` | {text} | {shown} |")
        usage = " ".join(["sepool", name, *arguments, *(["[options]"] if lines else [])])
        about = (command.help or "").strip().partition("\n\n")[0]
        parts += [f"## sepool {name}", about, f"`{usage}`"]
        if lines:
            head = ["| option | meaning | default |", "| --- | --- | --- |"]
            parts.append("\n".join([*head, *lines]))
    return "\n\n".join(parts)
