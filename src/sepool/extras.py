"""Optional packages, and the requirement that installs each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Distribution: the requirement; one without "sepool" in front is the package alone.
OPTIONAL = {
    "torch": "sepool[torch]",
    "torch-geometric": "sepool[torch]",
    "typer": "sepool[cli]",
    "rich": "sepool[cli]",
    "matplotlib": "sepool[viz]",
    "bokeh": "sepool[viz]",
    "pandas": "sepool[io]",
    "pyarrow": "sepool[io]",
    "networkx": "sepool[io]",
    "scipy": "sepool[io]",
    "igraph": "sepool[io]",
    "scikit-learn": "sepool[cluster]",
    "ray": "sepool[ray]",
    "duckdb": "sepool[duckdb]",
    "pyspark": "sepool[spark]",
    "polars": "polars",
    "cdlib": "cdlib",
    "torch-geometric-pool": "torch-geometric-pool",
    "sepool-experiments": "sepool-experiments",
}
_INSTALLED_AS = {"tgp": "torch-geometric-pool"}  # import name: distribution, if they differ


class MissingPackage(ImportError):
    """Raised when a package is not installed; the message has the command that installs it."""


@contextmanager
def needs(extras: str, what: str = "this") -> Iterator[None]:
    """Turn a failed import in the block into a `MissingPackage` with the extras to install.

    Of nested blocks the outermost decides, since it has the purpose. The message on a package that
    no extra of sepool installs stays as it is. Extras are joined by commas; "" is none.

    Example:
        >>> with needs("viz"):  # doctest: +IGNORE_EXCEPTION_DETAIL
        ...     raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh.models")
        Traceback (most recent call last):
        sepool.extras.MissingPackage: this needs bokeh: pip install 'sepool[viz]'
    """
    try:
        yield
    except (ModuleNotFoundError, MissingPackage) as error:
        package = (error.name or "sepool").partition(".")[0]
        if package == "sepool" or (isinstance(error, MissingPackage) and _in_no_extra(package)):
            raise
        requirement = f"sepool[{extras}]" if extras else OPTIONAL.get(package, package)
        text = f"{what} needs {package}: {install_command(requirement)}"
        raise MissingPackage(text, name=package) from error


def install_command(requirement: str) -> str:
    """Return the command that installs a requirement, from the folder sepool was installed from.

    Requirements of sepool itself name that folder or file; a folder that is gone is not named.

    Example:
        >>> install_command("polars")
        'pip install polars'
    """
    import shlex
    from urllib.parse import unquote, urlparse

    name, bracket, extras = requirement.partition("[")
    record = _installation_record()
    url = record.get("url", "")
    path = unquote(urlparse(url).path) if url.startswith("file:") else ""
    if name == "sepool" and os.path.isdir(path):
        option = "-e " if record.get("dir_info", {}).get("editable") else ""
        return f"pip install {option}{shlex.quote(path + bracket + extras)}"
    if name == "sepool" and path and "dir_info" not in record:
        return f"pip install {shlex.quote(f'{requirement} @ {url}')}"
    if name == "sepool-experiments" and os.path.isdir(os.path.join(path, "experiments")):
        return f"pip install {shlex.quote(os.path.join(path, 'experiments') + bracket + extras)}"
    return f"pip install {shlex.quote(requirement)}"


def _installation_record() -> dict[str, Any]:
    """Return the record of a direct installation (PEP 610), empty for one from an index."""
    import json
    from importlib import metadata

    try:
        text = metadata.distribution("sepool").read_text("direct_url.json")
        record: dict[str, Any] = json.loads(text or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return {}
    return record


def _in_no_extra(package: str) -> bool:
    requirement = OPTIONAL.get(_INSTALLED_AS.get(package, package), "")
    return bool(requirement) and not requirement.startswith("sepool[")
