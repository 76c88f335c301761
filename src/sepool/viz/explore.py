"""One page to walk through the hierarchy of a graph: a single HTML file that loads nothing.

BokehJS draws, as the Python package Bokeh ships it; places come from `sepool.viz.places`, so the
browser has nothing to simulate. Names go into the page as JSON and onto the screen as text.
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
from sepool.viz.coarse import links_of
from sepool.viz.colours import PALETTE, colour_level, level_colours
from sepool.viz.places import layout

LIBRARY = ("bokeh.min.js", "bokeh-api.min.js")
SCRIPTS = ("model.js", "drawing.js", "outline.js", "finder.js", "explore.js")
HUNDREDTHS = 100


def write_explorer(tree: CodingTree, graph: Any, path: StrPath, *, title: str = "graph") -> None:
    """Writes the page of `explorer_page`, whole or not at all.

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
    """A page that shows a graph with its clusters, to open, close, search and save.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        title: what the page is called.

    Returns:
        HTML that needs nothing else; the same input gives the same text.

    Raises:
        MissingPackage: Bokeh, which brings the drawing library, is not installed.
        ValueError: the tree is of another graph.
    """
    graph = as_graph(graph)
    library = "\n".join(_library(name) for name in LIBRARY)
    own = "\n".join(_page(name) for name in SCRIPTS)
    scripts = [_in_script(library), _in_script(f"(() => {{\n'use strict';\n{own}\n}})();")]
    parts = {
        "title": html.escape(title),
        "summary": f"Graph of {tree.num_nodes:,} nodes and {graph.num_edges:,} edges",
        "policy": _policy(scripts),
        "style": _page("explore.css"),
        "data": _in_json(_data(tree, graph, title)),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _page("explore.html"))


def _data(tree: CodingTree, graph: Graph, title: str) -> dict[str, Any]:
    """What the page knows; a list a level, the graph's nodes first."""
    links, places = links_of(tree, graph), layout(tree, graph)
    u, v, w = links[0]
    return {
        "title": title,
        "counts": list(tree.counts),
        "names": None if tree.names is None else list(tree.names),
        "parent": [tree.assignment(level).tolist() for level in range(1, tree.height + 1)],
        "volume": _short(tree.volumes(0)),
        "boundary": [_short(tree.boundaries(level)) for level in range(tree.height + 1)],
        "x": [_hundredths(centre.real) for centre in places.centre],
        "y": [_hundredths(centre.imag) for centre in places.centre],
        "r": [None, *(_hundredths(radius) for radius in places.radius[1:])],
        "colour": [None, *(numbers.tolist() for numbers in level_colours(tree, links))],
        "palette": PALETTE,
        "colourLevel": colour_level(tree, None),
        "u": u.tolist(),
        "v": v.tolist(),
        "w": None if (w == 1).all() else _short(w),
    }


def _hundredths(values: NDArray[np.float64]) -> list[int]:
    return [int(value) for value in np.round(values * HUNDREDTHS).tolist()]


def _short(values: NDArray[np.float64]) -> list[float | int]:
    """Whole numbers without a point, others with twelve digits: enough, and half as long."""
    return [int(x) if x.is_integer() else float(f"{x:.12g}") for x in values.tolist()]


def _in_json(data: Any) -> str:
    """JSON that cannot end the element it stands in: ASCII, and no character that HTML knows."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _in_script(text: str) -> str:
    """A script that cannot end its element early; the two spellings mean the same in a string."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def _policy(scripts: list[str]) -> str:
    """What the page may do: run these scripts, and load nothing from anywhere."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _page(name: str) -> str:
    return (resources.files("sepool.viz") / "page" / name).read_text("utf-8")


def check_library() -> Path:
    """The folder of BokehJS, found without importing all of Bokeh.

    Raises:
        MissingPackage: Bokeh is not installed.
    """
    with needs("viz"):
        spec = find_spec("bokeh")
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh")
    return Path(spec.origin).parent / "server" / "static" / "js"


@cache
def _library(name: str) -> str:
    """A file of BokehJS, with its licence at the head."""
    text = (check_library() / name).read_text("utf-8")
    return text.partition("\n//# sourceMappingURL=")[0]  # or developer tools would ask for it
