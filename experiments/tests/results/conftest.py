"""Fixtures of the tests of stored rows."""

from __future__ import annotations

import pytest

from sepool_experiments.results.database import Writer
from sepool_experiments.results.run_info import RunInfo


@pytest.fixture
def write(tmp_path, protocol, result):
    """Write the fake results of units and return the folder."""

    def write(units, protocol=protocol, data=None, engine="test"):
        with Writer(tmp_path, protocol, RunInfo.now(protocol, "cpu", engine), data) as writer:
            for unit in units:
                writer.add(result(unit))
        return tmp_path

    return write
