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
    """Code, machine, command and data behind the rows of one run, whose ``id`` is in the rows.

    ``digest`` is that of the rules of the protocol; ``trees`` is the version that built the trees,
    for a tree cache never serves another version; ``data`` is the fingerprint of the graphs and
    folds, "" for runs that predate it (see `sepool_experiments.data.checks`).
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
