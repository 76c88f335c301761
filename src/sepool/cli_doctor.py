"""The command ``sepool doctor``."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import numpy as np
import typer

import sepool
from sepool.cli_options import Json, print_json
from sepool.errors import FAILURE
from sepool.extras import OPTIONAL


def doctor(as_json: Json = False) -> None:
    """Say what is installed, what is missing and how to get it."""
    rows = {"sepool": sepool.__version__, "python": platform.python_version()}
    rows["numpy"] = np.__version__
    rows["core"] = _core()
    for package, target in OPTIONAL.items():
        try:
            rows[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            rows[package] = f"missing: pip install '{target}'"
    if as_json:
        print_json(rows)
    else:
        for name, state in rows.items():
            print(f"{name:<16} {state}")
    if rows["core"].startswith("broken"):
        raise typer.Exit(FAILURE)


def _core() -> str:
    try:
        from sepool import _core
    except ImportError as error:
        return f"broken: {error}; pip install --force-reinstall sepool"
    return f"{getattr(_core, 'build', 'works')}, {os.cpu_count()} threads"
