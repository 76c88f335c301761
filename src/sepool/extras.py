"""Packages that sepool can make use of, and what to install to get them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# By the name under which a package is installed; a name without "sepool" is a package of its own.
OPTIONAL = {
    "torch": "sepool[torch]",
    "torch-geometric": "sepool[torch]",
    "typer": "sepool[cli]",
    "rich": "sepool[cli]",
    "scipy": "sepool-experiments",
    "scikit-learn": "sepool-experiments",
    "pandas": "sepool-experiments",
    "matplotlib": "sepool[viz]",
    "bokeh": "sepool[viz]",
    "pyarrow": "sepool-experiments",
    "ray": "sepool[ray]",
    "networkx": "networkx",
    "igraph": "igraph",
    "torch-geometric-pool": "torch-geometric-pool",
    "sepool-experiments": "sepool-experiments",
}
_INSTALLED_AS = {"tgp": "torch-geometric-pool"}  # where the name to import is another


class MissingPackage(ImportError):
    """A package that is not installed; the message says how to get it."""


@contextmanager
def needs(extras: str, what: str = "this") -> Iterator[None]:
    """Where the block finds a package missing, says which of sepool's extras bring it.

    The outermost block has the last word: it knows what is wanted. Only what was said of a package
    that none of the extras brings stays as it is.

    Args:
        extras: names with commas, such as "torch,bench"; "" for a package that none brings.
        what: what it is that needs them.

    Example:
        >>> with needs("viz"):
        ...     raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh.models")
        Traceback (most recent call last):
        sepool.extras.MissingPackage: this needs bokeh: pip install 'sepool[viz]'
    """
    try:
        yield
    except (ModuleNotFoundError, MissingPackage) as error:
        package = (error.name or "sepool").partition(".")[0]
        said = isinstance(error, MissingPackage)
        if package == "sepool" or (said and _comes_alone(package)):
            raise
        wanted = f"'sepool[{extras}]'" if extras else OPTIONAL.get(package, package)
        text = f"{what} needs {package}: pip install {wanted}"
        raise MissingPackage(text, name=package) from error


def _comes_alone(package: str) -> bool:
    wanted = OPTIONAL.get(_INSTALLED_AS.get(package, package), "")
    return bool(wanted) and not wanted.startswith("sepool[")
