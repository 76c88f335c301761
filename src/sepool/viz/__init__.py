"""Pictures of coding trees and an interactive page of the hierarchy.

>>> import sepool, sepool.viz
>>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
>>> tree = sepool.coding_tree(bridge, height=2)
>>> sepool.viz.plot_dendrogram(tree).axes[0].get_title()
'6 nodes, 2 clusters: 1.6995 bits'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sepool.extras import needs

if TYPE_CHECKING:
    from sepool.viz.clusters import plot_clusters as plot_clusters
    from sepool.viz.dendrogram import plot_dendrogram as plot_dendrogram
    from sepool.viz.disk_layout import layout as layout
    from sepool.viz.drawing import save_figure as save_figure
    from sepool.viz.explore import explorer_page as explorer_page
    from sepool.viz.explore import write_explorer as write_explorer
    from sepool.viz.levels import plot_levels as plot_levels

# Imported on first use: plots need matplotlib, the page needs Bokeh.
_MODULES = {
    "explorer_page": "explore",
    "layout": "disk_layout",
    "plot_clusters": "clusters",
    "plot_dendrogram": "dendrogram",
    "plot_levels": "levels",
    "save_figure": "drawing",
    "write_explorer": "explore",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'sepool.viz' has no attribute {name!r}")
    with needs("viz"):
        return getattr(import_module(f"sepool.viz.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
