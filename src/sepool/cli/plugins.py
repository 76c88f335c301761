"""Commands of other distributions, from the entry-point group ``sepool.commands``.

An entry point is a sequence of commands: (name, function, example).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from sepool.extras import MissingPackage, install_command

CommandSpec = tuple[str, Callable[..., Any], str]  # name, function, example
EXPERIMENTS = ("reproduce", "report", "pack", "list")  # the commands of sepool-experiments


class PluginError(RuntimeError):
    """Raised when a command is missing and a plug-in has failed to load."""


def load_plugins() -> tuple[list[CommandSpec], dict[str, str]]:
    """Return the commands of all plug-ins, and an error message for each that fails to load."""
    commands: list[CommandSpec] = []
    failures: dict[str, str] = {}
    for entry in sorted(entry_points(group="sepool.commands"), key=lambda entry: entry.name):
        try:
            commands += [(name, function, example) for name, function, example in entry.load()]
        except MissingPackage as error:
            failures[_plugin_name(entry)] = str(error)
        except Exception as error:  # whatever a plug-in raises, other commands still work
            failures[_plugin_name(entry)] = f"{type(error).__name__}: {error}"
    return commands, failures


def missing_command(name: str, message: str, failures: dict[str, str]) -> Exception | None:
    """Return the error of a command that a plug-in might add, None without such a plug-in."""
    if failures:
        reasons = (f"plug-in {plugin} fails to load: {why}" for plugin, why in failures.items())
        return PluginError(f"{message.rstrip('.')}; {'; '.join(reasons)}")
    if name in EXPERIMENTS:
        package = "sepool-experiments"
        return MissingPackage(f"sepool {name} needs {package}: {install_command(package)}")
    return None


def _plugin_name(entry: Any) -> str:
    return str(entry.dist.name if entry.dist else entry.name)
