"""The report of ``sepool doctor``; needs nothing but NumPy."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata

import numpy as np

import sepool
from sepool.cli.plugins import load_plugins
from sepool.extras import OPTIONAL, install_command


def check_installation(as_json: bool) -> int:
    """Print installed and missing packages, return the exit code."""
    rows = {"sepool": sepool.__version__, "python": platform.python_version()}
    rows["numpy"] = np.__version__
    rows["core"] = _core_build()
    for package, target in OPTIONAL.items():
        try:
            rows[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            rows[package] = f"missing: {install_command(target)}"
    for plugin, error in load_plugins()[1].items():
        rows[plugin] = f"fails to load: {error}"
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        width = max(map(len, rows))
        for name, state in rows.items():
            print(f"{name:<{width}} {state}")
    return int(rows["core"].startswith("broken"))


def _core_build() -> str:
    try:
        from sepool import _core
    except ImportError as error:
        command = install_command("sepool").replace("install", "install --force-reinstall", 1)
        return f"broken: {error}; {command}"
    return f"{getattr(_core, 'build', 'works')}, {os.cpu_count()} threads"
