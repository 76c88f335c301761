"""Optional packages, and the requirement that installs each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Distribution: the requirement; one without "sepool" in front is the package alone.
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
_INSTALLED_AS = {"tgp": "torch-geometric-pool"}  # import name: distribution, if they differ


class MissingPackage(ImportError):
    """Raised when a package is not installed; the message has the command that installs it."""


@contextmanager
def needs(extras: str, what: str = "this") -> Iterator[None]:
    """Turn a failed import in the block into a `MissingPackage` with the extras to install.

    Of nested blocks the outermost decides, since it has the purpose. The message on a package that
    no extra of sepool installs stays as it is. Extras are joined by commas; "" is none.

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
        if package == "sepool" or (isinstance(error, MissingPackage) and _in_no_extra(package)):
            raise
        requirement = f"'sepool[{extras}]'" if extras else OPTIONAL.get(package, package)
        text = f"{what} needs {package}: pip install {requirement}"
        raise MissingPackage(text, name=package) from error


def _in_no_extra(package: str) -> bool:
    requirement = OPTIONAL.get(_INSTALLED_AS.get(package, package), "")
    return bool(requirement) and not requirement.startswith("sepool[")
