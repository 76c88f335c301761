"""Checkpoints of a group of trainings, so that a killed run loses seconds instead of hours.

A group has one file beside the rows, written whole and removed when the group ends. It holds plain
arrays; loading it executes nothing. A group that goes on from its checkpoint has the results of one
that was never interrupted, on a CPU bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sepool.files.archive import ArchiveError, read_archive, write_archive
from sepool_experiments.engine.launch_lock import LAUNCH_LOCK
from sepool_experiments.protocols.units import Config, Unit

FORMAT, VERSION, SUFFIX = "sepool-checkpoint", 1, ".checkpoint"
SECONDS = 10.0  # between two checkpoints
SHARE = 0.05  # of the time, at most, that goes into checkpoints


@dataclass(frozen=True)
class Checkpoints:
    """Folder of the checkpoints of a run.

    Args:
        folder: folder of the rows; None for no checkpoints.
        marks: of every dataset, a text of all else that a checkpoint depends on: the rules, the
            data, versions, the device.
        finished: keys of the units with a row.
    """

    folder: Path | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    finished: frozenset[str] = frozenset()

    def interrupted(
        self, units: Sequence[Unit], log: Callable[[str], None]
    ) -> list[tuple[list[Unit], Checkpoint]]:
        """Return the groups of earlier runs that can go on with units of this one.

        Checkpoints that no run can use are removed.
        """
        if self.folder is None:
            return []
        wanted, groups = {unit.key for unit in units}, []
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            checkpoint = Checkpoint(path)
            try:
                group = checkpoint.open(self.marks)
            except FileNotFoundError:  # of a group that has just ended
                continue
            except (LookupError, TypeError, ValueError) as error:
                log(f"{path}: {error}; its trainings start anew")
                path.unlink(missing_ok=True)
                continue
            left = {unit.key for unit in group} - self.finished
            if not left:
                path.unlink(missing_ok=True)
            elif left <= wanted:
                wanted -= left
                groups.append((group, checkpoint))
        return groups

    def of(self, units: Sequence[Unit]) -> Checkpoint:
        """Return the checkpoint of a new group."""
        if self.folder is None:
            return Checkpoint(None)
        text = " ".join(unit.key for unit in units)
        name = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:16]
        path = self.folder / f"{name}{SUFFIX}"
        return Checkpoint(path, self.marks.get(units[0].dataset, ""))


class Checkpoint:
    """Checkpoint of one group of trainings; without a path nothing is saved."""

    def __init__(self, path: Path | None, mark: str = "") -> None:
        self.path, self.mark = path, mark
        self._about: dict[str, Any] = {}
        self._next = perf_counter() + SECONDS

    def open(self, marks: Mapping[str, str]) -> list[Unit]:
        """Read the description in the file and return the units of its group.

        Raises:
            ValueError: the file is damaged, or of another version, of other rules or other data.
        """
        assert self.path is not None
        arrays = read_archive(self.path, FORMAT, VERSION, only=("about",))
        self._about = json.loads(str(arrays["about"]))
        units = [_unit(values) for values in self._about["units"]]
        self.mark = marks.get(units[0].dataset, "")
        if self._about["mark"] != self.mark:
            raise ValueError("of another version, of other rules, data or another device")
        return units

    def restore(self, descent: Any) -> None:
        """Set trainings to the state in the file, if it is of their phase."""
        if self._about.get("phase") != descent.phase:
            return
        import torch

        assert self.path is not None
        about, self._about = self._about, {}
        try:
            arrays = read_archive(self.path, FORMAT, VERSION)
        except ArchiveError as error:
            warnings.warn(f"{error}; its trainings start anew", stacklevel=2)
            return
        del arrays["about"]
        with LAUNCH_LOCK.launching():
            descent.load_state({k: torch.from_numpy(v) for k, v in arrays.items()}, about)

    def save(self, descent: Any) -> None:
        """Write the state of trainings if the last checkpoint is old enough."""
        start = perf_counter()
        if self.path is None or start < self._next:
            return
        with LAUNCH_LOCK.launching():
            tensors, about = descent.state()
            arrays = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
        units = [{**asdict(unit), "config": unit.config.to_dict()} for unit in descent.units]
        about = {**about, "phase": descent.phase, "units": units, "mark": self.mark}
        arrays["about"] = np.array(json.dumps(about))
        try:
            write_archive(self.path, FORMAT, VERSION, arrays, compress=False)
        except OSError as error:
            raise OSError(
                f"cannot write to {self.path}: {error.strerror or error}; what was stored before "
                "stays, and the same command goes on from there"
            ) from None
        now = perf_counter()
        self._next = now + max(SECONDS, (now - start) / SHARE)

    def remove(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _unit(values: dict[str, Any]) -> Unit:
    return Unit(**{**values, "config": Config.from_dict(values["config"])})
