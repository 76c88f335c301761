"""Long work: it can be interrupted, and no shape of graph makes it quadratic."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import sepool

from . import shapes

# Shells start background jobs deaf to Ctrl-C, and children inherit that: hence the first line.
LARGE = """
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
import sys
import numpy as np
import sepool

edges = np.random.default_rng(0).integers(0, {nodes}, ({edges}, 2))
graph = sepool.as_graph(edges)
print("ready", flush=True)
try:
    sepool.coding_tree(graph, 3)
except KeyboardInterrupt:
    sys.exit("interrupted")
sys.exit("done too early")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.parametrize(
    ("nodes", "edges", "delay"),
    [
        (300_000, 900_000, 0.2),  # in whatever stage it comes: labelling, merging,
        (300_000, 900_000, 1),
        (300_000, 900_000, 3),  # settling, shaking,
        (1_000_000, 3_000_000, 6),
        (30_000, 95_000, 0.1),  # and where the graph is small but the work is not
    ],
)
def test_ctrl_c(nodes, edges, delay):
    code = LARGE.format(nodes=nodes, edges=edges)
    with subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True) as work:
        try:
            assert work.stdout.readline() == "ready\n"
            time.sleep(delay)
            if work.poll() is not None:
                pytest.skip("the machine is too fast for this delay")
            work.send_signal(signal.SIGINT)
            asked = time.perf_counter()
            _, error = work.communicate(timeout=30)
            assert error == "interrupted\n"
            assert time.perf_counter() - asked < 1
        finally:
            work.kill()


def spread(edges):
    """Weights over many orders of magnitude."""
    exponents = np.random.default_rng(0).uniform(-20, 20, len(edges))
    return np.array(edges), 2.0**exponents


def nearly_equal(edges):
    return np.array(edges), 1 + 1e-6 * np.random.default_rng(0).random(len(edges))


def plain(edges):
    return np.array(edges), None


SHAPES = {
    "star": (plain, shapes.star),
    "star, spread weights": (spread, shapes.star),
    "star, nearly equal weights": (nearly_equal, shapes.star),
    "wheel": (plain, shapes.wheel),
    "wheel, nearly equal weights": (nearly_equal, shapes.wheel),
    "path": (plain, shapes.path),
    "path, spread weights": (spread, shapes.path),
    "caterpillar": (plain, shapes.caterpillar),
}


def seconds(graph: sepool.Graph, method: str, height: int = 3) -> float:
    """Return the least processor time of three calls, or of one that takes long."""
    times = []
    while len(times) < 3 and sum(times) < 0.5:
        start = time.process_time()
        sepool.coding_tree(graph, height, method=method, num_threads=1)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("n", [3, 20, 60])
def test_high_trees_of_small_graphs(n, method):
    """Levels beyond those that a graph has use for cost next to nothing."""
    assert seconds(sepool.as_graph(shapes.ring(n)), method, height=64) < 0.5


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_quadratic_case(shape, method):
    """Four times the nodes take less than ten times as long; quadratic work takes sixteen times."""
    weigh, edges = SHAPES[shape]
    small, large = (sepool.as_graph(weigh(edges(n))) for n in (6_000, 24_000))
    assert seconds(large, method) < 10 * max(seconds(small, method), 0.01)
