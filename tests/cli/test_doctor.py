from __future__ import annotations

import sys
from importlib import metadata

from typer.testing import CliRunner

import sepool
from sepool.cli import app as cli
from sepool.extras import install_command


def run(*args: str, code: int = 0):
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == code, result.output
    return result


def test_doctor_lists_versions():
    rows = dict(line.split(maxsplit=1) for line in run("doctor").output.splitlines())
    assert rows["sepool"] == sepool.__version__ == metadata.version("sepool")
    assert rows["python"] == sys.version.split()[0]
    assert rows["core"].endswith("threads")
    assert {"numpy", "torch", "torch-geometric", "ray", "polars", "cdlib"} <= set(rows)
    assert {"pandas", "pyarrow", "networkx", "scipy", "igraph", "scikit-learn"} <= set(rows)
    assert "sepool-experiments" in rows


def test_doctor_without_packages_names_the_extras(monkeypatch):
    def version(package):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setitem(sys.modules, "sepool._core", None)
    monkeypatch.delattr(sepool, "_core", raising=False)
    output = run("doctor", code=1).output
    for extra in ("torch", "io", "cluster"):
        assert f"missing: {install_command(f'sepool[{extra}]')}" in output
    assert "broken: " in output
