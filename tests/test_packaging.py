"""Builds that must be refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CMAKE = Path(sys.executable).with_name("cmake")


@pytest.mark.skipif(not CMAKE.exists(), reason="no CMake in this environment")
@pytest.mark.skipif(not (ROOT / "CMakeLists.txt").exists(), reason="no source tree")
def test_build_for_a_free_threaded_python_is_refused(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sysconfig\nsysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n"
    )
    command = [CMAKE, "-S", ROOT, "-B", tmp_path / "build", "-DSKBUILD=ON"]
    done = subprocess.run(
        [*map(str, command), f"-DPython_EXECUTABLE={sys.executable}"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    message = " ".join(done.stderr.split())
    assert "sepool needs a Python with the global interpreter lock" in message
    assert "free-threaded: install sepool for python3." in message
