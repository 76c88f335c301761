"""Try an installed sepool, with its optional dependencies or without."""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import sepool

BRIDGE = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
OTHERS = {"torch", "torch_geometric", "typer", "pandas", "scipy", "matplotlib"}


def main() -> None:
    """Build, save and load trees; fail with an assertion."""
    assert OTHERS.isdisjoint(sys.modules), OTHERS & set(sys.modules)
    for method in ("best", "paper"):
        tree = sepool.coding_tree(BRIDGE, height=2, method=method)
        assert abs(tree.entropy - 1.6995) < 1e-4, tree
    assert len(sepool.coding_trees([BRIDGE] * 50, height=3, num_threads=2)) == 50
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bridge.npz", "bridge.json"):
            path = Path(folder, name)
            tree.save(path)
            assert str(sepool.CodingTree.load(path)) == str(tree)
    if find_spec("torch") is None:
        for code in ("sepool.nn", "sepool.AddCodingTree", "from sepool.nn import SEPG"):
            message = ""
            try:
                exec(code)
            except ImportError as error:
                message = str(error)
            assert "pip install 'sepool[torch]" in message, f"{code} without torch: {message!r}"
    print(f"sepool {sepool.__version__} in {Path(sepool.__file__).parent}: {tree}")


if __name__ == "__main__":
    main()
