"""Settings of every test run; the root is on the path for modules that tests share."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# The tests' tensors are small: several threads would mostly wait for one another. Read at the first
# import of torch, here and in worker processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
if shutil.which("nvidia-smi") is None:  # without a GPU, Triton's kernels are interpreted
    os.environ.setdefault("TRITON_INTERPRET", "1")
