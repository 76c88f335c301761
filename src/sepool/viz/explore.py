"""Interactive page of the hierarchy of a graph: a self-contained HTML file.

BokehJS from the Python package Bokeh draws the layout of `sepool.viz.disk_layout`. Names enter the
page as JSON and are shown as text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.files.atomic import StrPath, atomic_write
from sepool.graph.graph import Graph, as_graph
from sepool.tree import CodingTree
from sepool.viz.coarse_graph import coarse_edges
from sepool.viz.colours import PALETTE, colour_level, palette_indices
from sepool.viz.disk_layout import layout

LIBRARY = ("bokeh.min.js", "bokeh-api.min.js")
SCRIPTS = ("model.js", "drawing.js", "outline.js", "search.js", "explore.js")


def write_explorer(tree: CodingTree, graph: Any, path: StrPath, *, title: str = "graph") -> None:
    """Write the page of `explorer_page` atomically.

    Example:
        >>> import networkx as nx, sepool, tempfile
        >>> graph = nx.karate_club_graph()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/karate.html"
        ...     write_explorer(sepool.coding_tree(graph, 3), graph, path, title="Karate club")
        ...     "<title>Karate club" in open(path, encoding="utf-8").read()
        True
    """
    page = explorer_page(tree, graph, title=title).encode("utf-8", "replace")
    with atomic_write(path) as file:
        file.write(page)


def explorer_page(tree: CodingTree, graph: Any, *, title: str = "graph") -> str:
    """Return a page with a graph and its clusters to expand, collapse, search and save.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        title: title of the page.

    Returns:
        Self-contained, deterministic HTML.

    Raises:
        MissingPackage: Bokeh, which contains the drawing library, is not installed.
        ValueError: the tree is of another graph.
    """
    graph = as_graph(graph)
    library = "\n".join(_bokeh_file(name) for name in LIBRARY)
    own = "\n".join(_page_file(name) for name in SCRIPTS)
    scripts = [
        _escape_script(library),
        _escape_script(f"(() => {{\n'use strict';\n{own}\n}})();"),
    ]
    parts = {
        "title": html.escape(title),
        "summary": f"Graph of {tree.num_nodes:,} nodes and {graph.num_edges:,} edges",
        "policy": _policy(scripts),
        "style": _page_file("explore.css"),
        "data": _escaped_json(_data(tree, graph, title)),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _page_file("explore.html"))


def _data(tree: CodingTree, graph: Graph, title: str) -> dict[str, Any]:
    """Return the data of the page; lists have an entry a level, the graph's nodes first."""
    edges, disks = coarse_edges(tree, graph), layout(tree, graph)
    u, v, weight = edges[0]
    inner = range(1, tree.height)
    return {
        "title": title,
        "counts": list(tree.counts),
        "names": None if tree.names is None else list(map(str, tree.names)),
        "parent": [tree.assignment(level).tolist() for level in range(1, tree.height + 1)],
        "volume": _short(tree.volumes(0)),
        "boundary": [_short(tree.boundaries(level)) for level in range(tree.height + 1)],
        "x": [_hundredths(centre.real) for centre in disks.centre],
        "y": [_hundredths(centre.imag) for centre in disks.centre],
        "r": [None, *(_hundredths(radius) for radius in disks.radius[1:])],
        "colour": [
            None,
            *(palette_indices(tree.cluster_sizes(i), edges[i]).tolist() for i in inner),
        ],
        "palette": PALETTE,
        "colourLevel": colour_level(tree, None),
        "u": u.tolist(),
        "v": v.tolist(),
        "w": None if (weight == 1).all() else _short(weight),
    }


def _hundredths(values: NDArray[np.float64]) -> list[int]:
    return [int(value) for value in np.round(values * 100).tolist()]


def _short(values: NDArray[np.float64]) -> list[float | int]:
    """Return integers without a decimal point, other numbers with twelve digits."""
    return [int(x) if x.is_integer() else float(f"{x:.12g}") for x in values.tolist()]


def _escaped_json(data: Any) -> str:
    """Return JSON in ASCII without the special characters of HTML."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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
