"""Provenance of results: code, machine and command of a run."""

from __future__ import annotations

import platform
import secrets
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

import sepool
from sepool_experiments.protocols.catalog import Protocol


@dataclass(frozen=True)
class RunInfo:
    """Code, machine, command and data behind the rows of one run.

    Args:
        id: name of the run in its rows.
        protocol: name of the protocol.
        digest: of the rules of the protocol (see `Protocol.digest`).
        sepool: version that trained.
        trees: version that built the trees; a tree cache never serves another version.
        torch: version of PyTorch.
        torch_geometric: version of PyTorch Geometric.
        python: version of Python.
        device: name of the device.
        engine: name of the engine.
        command: command line.
        started: time of the start, in UTC.
        data: mark of the graphs and folds (see `sepool_experiments.data.checks`), "" for runs
            that predate it.
    """

    id: str
    protocol: str
    digest: str
    sepool: str
    trees: str
    torch: str
    torch_geometric: str
    python: str
    device: str
    engine: str
    command: str
    started: str
    data: str = ""

    @classmethod
    def now(cls, protocol: Protocol, device: str, engine: str) -> RunInfo:
        """Describe a run of this program that starts now."""
        started = datetime.now(timezone.utc)
        program = Path(sys.argv[0]).name.replace("__main__.py", "sepool")  # python -m sepool
        return cls(
            id=secrets.token_hex(4),
            protocol=protocol.name,
            digest=protocol.digest,
            sepool=sepool.__version__,
            trees=sepool.__version__,
            torch=metadata.version("torch"),
            torch_geometric=metadata.version("torch-geometric"),
            python=platform.python_version(),
            device=device,
            engine=engine,
            command=shlex.join([program, *sys.argv[1:]]),
            started=started.isoformat(timespec="seconds"),
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, str]) -> RunInfo:
        """Build from named values; missing ones are "", unknown ones are ignored."""
        return cls(**{field.name: values.get(field.name, "") for field in fields(cls)})
