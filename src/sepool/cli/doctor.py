"""What ``sepool doctor`` finds out; it runs where NumPy is all there is."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata

import numpy as np

import sepool
from sepool.extras import OPTIONAL


def examine(as_json: bool) -> int:
    """Prints what is installed and what is missing, and returns the exit code."""
    rows = {"sepool": sepool.__version__, "python": platform.python_version()}
    rows["numpy"] = np.__version__
    rows["core"] = _core()
    for package, target in OPTIONAL.items():
        try:
            rows[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            rows[package] = f"missing: pip install '{target}'"
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        width = max(map(len, rows))
        for name, state in rows.items():
            print(f"{name:<{width}} {state}")
    return int(rows["core"].startswith("broken"))


def _core() -> str:
    try:
        from sepool import _core
    except ImportError as error:
        return f"broken: {error}; pip install --force-reinstall sepool"
    return f"{getattr(_core, 'build', 'works')}, {os.cpu_count()} threads"
