"""Interactive page of the hierarchy of a graph: a self-contained HTML file.

BokehJS from the Python package Bokeh draws the layout of `sepool.viz.disk_layout`. Names enter the
page as JSON and are shown as text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sepool.extras import needs
from sepool.files.atomic import StrPath, atomic_write
from sepool.graph.graph import as_graph
from sepool.tree import CodingTree
from sepool.viz.page.attribute import attribute_values, node_classes
from sepool.viz.page.blocks import escaped_json
from sepool.viz.page.data import PageContent

if TYPE_CHECKING:
    from sepool.depth.significance import Significance

LIBRARY = ("bokeh.min.js", "bokeh-api.min.js")
SCRIPTS = (
    "data.js",
    "model.js",
    "links.js",
    "text.js",
    "labels.js",
    "theme.js",
    "drawing.js",
    "view.js",
    "outline.js",
    "details.js",
    "search.js",
    "input.js",
    "explore.js",
)


def write_explorer(
    tree: CodingTree,
    graph: Any,
    path: StrPath,
    *,
    title: str = "graph",
    colour_by: Any = None,
    significance: bool | Significance = False,
) -> None:
    """Write the page of `explorer_page` atomically; the arguments are its.

    Example:
        >>> import networkx as nx, sepool, tempfile
        >>> graph = nx.karate_club_graph()
        >>> tree = sepool.coding_tree(graph, 3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/karate.html"
        ...     write_explorer(tree, graph, path, title="Karate club", colour_by="club")
        ...     "<title>Karate club" in open(path, encoding="utf-8").read()
        True
    """
    page = explorer_page(
        tree, graph, title=title, colour_by=colour_by, significance=significance
    ).encode("utf-8", "replace")
    with atomic_write(path) as file:
        file.write(page)


def explorer_page(
    tree: CodingTree,
    graph: Any,
    *,
    title: str = "graph",
    colour_by: Any = None,
    significance: bool | Significance = False,
) -> str:
    """Return a page with a graph and its clusters to expand, collapse, search and save.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        title: title of the page.
        colour_by: labels that may colour the nodes, such as a truth: a value a node, in the order
            of the nodes; a dictionary from their names; or the name of an attribute, where the
            graph is networkx's.
        significance: True for the bits beyond chance of every cluster, or the result of
            `tree.significance()`.

    Returns:
        Self-contained, deterministic HTML.

    Raises:
        MissingPackage: Bokeh, which contains the drawing library, is not installed.
        ValueError: the tree is of another graph, or the labels are.
    """
    converted = as_graph(graph)
    labels = None if colour_by is None else attribute_values(graph, colour_by)
    content = PageContent(
        tree,
        converted,
        title,
        None if labels is None else node_classes(labels, tree),
        tree.significance(converted) if significance is True else significance or None,
    )
    library = "\n".join(_bokeh_file(name) for name in LIBRARY)
    own = "\n".join(_page_file(name) for name in SCRIPTS)
    scripts = [
        _escape_script(library),
        _escape_script(f"(() => {{\n'use strict';\n{own}\n}})();"),
    ]
    parts = {
        "title": html.escape(title),
        "summary": f"Graph of {tree.num_nodes:,} nodes and {converted.num_edges:,} edges",
        "policy": _policy(scripts),
        "style": _page_file("explore.css"),
        "data": escaped_json(content.header()),
        "blocks": str(content.blocks()),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _page_file("explore.html"))


def _escape_script(text: str) -> str:
    """Return a script that cannot end its element; the escape is equivalent inside strings."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def _policy(scripts: list[str]) -> str:
    """Return the content security policy: run these scripts, load nothing."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _page_file(name: str) -> str:
    return (resources.files("sepool.viz") / "page" / name).read_text("utf-8")


def bokeh_folder() -> Path:
    """Return the folder of BokehJS without importing Bokeh.

    Raises:
        MissingPackage: Bokeh is not installed.
    """
    with needs("viz"):
        spec = find_spec("bokeh")
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh")
    return Path(spec.origin).parent / "server" / "static" / "js"


@cache
def _bokeh_file(name: str) -> str:
    """Return a file of BokehJS with its licence, without the link to its source map."""
    text = (bokeh_folder() / name).read_text("utf-8")
    return text.partition("\n//# sourceMappingURL=")[0]
