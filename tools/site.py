"""Hooks of MkDocs (see mkdocs.yml).

- README files, the changelog, examples and the report become pages of the site, with their
  pictures; links between files of the project become links between pages.
- Notebooks become pages, with their stored output and a link to the file.
- Formulas become MathML.
- Nothing is fetched from other servers: search from files has a script of its own.
- ``<!-- commands -->`` becomes typer's description of the command line.
"""

from __future__ import annotations

import base64
import os
import posixpath
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# Pages of the site that are files elsewhere in the project.
ORIGINS = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "benchmarks.md": "benchmarks/README.md",
    "results/rows.md": "results/README.md",
    "results/report.md": "results/report/report.md",
}
MATERIAL_SHIM, OWN_SHIM = "https://unpkg.com/iframe-worker/shim", "search-from-files.js"
# Pages of wide tables, whose list of sections stands above them instead of to the right.
WIDE = ("results.md", "results/report.md", "benchmarks.md")
LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
VARIABLE = re.compile(r"<mi>([A-Za-z])</mi>")
ROLE = re.compile(r":math:<code>(.*?)</code>", re.DOTALL)
COMMANDS = "<!-- commands -->"
PANDAS = re.compile(r'<style scoped>.*?</style>| border="1" class="dataframe"', re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from elsewhere, and all pictures of the results."""
    for page, path in ORIGINS.items():
        if (ROOT / path).exists():
            text = (ROOT / path).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "examples.md", content=_examples()))
    for path in sorted((ROOT / "docs").rglob("*.ipynb")):
        for uri, content in _notebook(path).items():
            files.append(File.generated(config, uri, content=content))
    for picture in sorted((ROOT / "results").rglob("*.png")):
        uri = picture.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Turn links to files into links to pages, or into plain text where there is no page."""
    here = page.file.src_uri
    origin = ORIGINS.get(here, "examples.md" if here == "examples.md" else f"docs/{here}")

    def resolve(link: re.Match[str]) -> str:
        picture, text, target, anchor = link.groups(default="")
        if not target or "://" in target:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        uri, section = _page_of(path)
        if files.get_file_from_path(uri) is None:
            return "" if picture else text
        url = posixpath.relpath(uri, posixpath.dirname(here) or ".")
        return f"{picture}[{text}]({url}{section or anchor})"

    if here in WIDE:
        page.meta["hide"] = ["toc"]
    parts = CODE.split(markdown)
    parts[::2] = [LINK.sub(resolve, part) for part in parts[::2]]
    text = "".join(parts)
    return text.replace(COMMANDS, _commands()) if COMMANDS in text else text


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Turn formulas into MathML; list the sections of wide pages."""
    if page.file.src_uri in WIDE:
        html = html.replace("<h2", _sections(page.toc) + "<h2", 1)
    html = FORMULA.sub(lambda m: _mathml(m[3], "block" if m[2] == "[" else "inline"), html)
    return ROLE.sub(lambda m: _mathml(m[1], "inline"), html)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Replace the theme's script for search from files by the site's own."""
    url = posixpath.relpath(OWN_SHIM, posixpath.dirname(page.file.dest_uri) or ".")
    return output.replace(MATERIAL_SHIM, url)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Replace the same script on pages without a source, such as the one for errors."""
    return output_content.replace(MATERIAL_SHIM, OWN_SHIM)


def _sections(toc: Any) -> str:
    links = [
        f'<li><a href="{part.url}">{part.title}</a></li>' for top in toc for part in top.children
    ]
    return f'<nav class="sections" aria-label="Sections"><ul>{"".join(links)}</ul></nav>\n'


def _mathml(latex: str, display: str) -> str:
    mathml = str(convert(unescape(latex).strip(), display=display))
    # Letters in the font of the text: not every machine has a font for formulas.
    mathml = mathml.replace("<mi>log</mi>", '<mo lspace="0.17em" rspace="0.17em">log</mo>')
    return VARIABLE.sub(r'<mi mathvariant="normal" class="variable">\1</mi>', mathml)


def _page_of(path: str) -> tuple[str, str]:
    """Return the page of a file of the project, and the section on it."""
    for page, origin in ORIGINS.items():
        if path in (origin, posixpath.dirname(origin)) and path:
            return page, ""
    if path == "README.md":
        return "index.md", ""
    if path == "examples" or path.startswith("examples/"):
        return "examples.md", "#" + posixpath.basename(path).replace(".", "") if "." in path else ""
    return re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/")), ""


def _examples() -> str:
    parts = ["# Examples", "Programs of one file; the tests run them."]
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        summary = code.split('"""')[1].strip().partition("\n")[0]
        parts += [f"## {path.name}", summary, f"```python\n{code}```"]
    return "\n\n".join(parts)


def _notebook(path: Path) -> dict[str, str | bytes]:
    """Return a page of a notebook, and its pictures."""
    first, *cells = nbformat.read(path, as_version=4).cells
    title, _, rest = first.source.partition("\n")
    parts = [title, f'<a href="{path.name}" download>This page as a notebook</a>', rest]
    folder = path.parent.relative_to(ROOT / "docs")
    pictures: dict[str, str | bytes] = {}
    for cell in cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures)}.png"
                pictures[(folder / name).as_posix()] = base64.b64decode(data["image/png"])
                parts.append(f"![Output of the cell above]({name})")
            elif "text/html" in data:
                parts.append(PANDAS.sub("", data["text/html"]))  # the site has styles of its own
            else:
                parts.append(f"```text\n{data['text/plain'].rstrip()}\n```")
    page = (folder / path.with_suffix(".md").name).as_posix()
    return {page: "\n\n".join(parts), **pictures}


def _commands() -> str:
    command = [sys.executable, "-m", "typer", "sepool.cli.app", "utils", "docs", "--name", "sepool"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"}
    )
    return done.stdout.partition("\n")[2]  # the page has a title
