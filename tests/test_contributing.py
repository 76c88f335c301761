"""The baselines on the contributing page train as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("torch_geometric", "typer", "pandas", "sklearn", "networkx"):
    pytest.importorskip(package)

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"Save\s+this\s+as\s+`(\w+\.py)`:\n\n```python\n(.*?)```\n.*?```sh\n(.*?)```", re.DOTALL
)
EXAMPLES = {name: (code, commands) for name, code, commands in EXAMPLE.findall(PAGE)}
MAX_LINES = 60


def write_dataset(root: Path) -> None:
    """Write rings and stars as files of a TU dataset, under the name of one in the tables."""
    import networkx as nx

    raw = root / "TU" / "MUTAG" / "raw"
    raw.mkdir(parents=True)
    arcs, owner, classes = [], [], []
    for i in range(20):
        graph = nx.cycle_graph(6 + i % 5) if i % 2 else nx.star_graph(5 + i % 5)
        start = len(owner) + 1
        arcs += [f"{start + u}, {start + v}" for u, v in sorted(graph.to_directed().edges)]
        owner += [i + 1] * len(graph)
        classes.append(i % 2)
    files = {"A": arcs, "graph_indicator": owner, "graph_labels": classes}
    files["node_labels"] = [0] * len(owner)
    for name, lines in files.items():
        (raw / f"MUTAG_{name}.txt").write_text("".join(f"{line}\n" for line in lines))


def test_page_has_two_examples():
    assert list(EXAMPLES) == ["attention_pool.py", "edge_pool.py"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_short(name):
    assert len(EXAMPLES[name][0].splitlines()) < MAX_LINES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_run_by_its_commands_separates_rings_from_stars(name, tmp_path):
    code, commands = EXAMPLES[name]
    (tmp_path / name).write_text(code)
    write_dataset(tmp_path / "data")
    match = re.search(r'name="(\w+)"', code)
    assert match
    for command in commands.splitlines():
        done = subprocess.run(
            [sys.executable, *command.split()[1:]],
            cwd=tmp_path,
            env={**os.environ, "SEPOOL_DATA": str(tmp_path / "data"), "CUDA_VISIBLE_DEVICES": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        if " report " in command:
            assert match[1] in done.stdout
    from sepool_experiments.results.rows import Rows

    rows = Rows.read(tmp_path / "results")
    accuracies = rows.loc[rows["system"] == match[1], "test_accuracy"]
    assert len(accuracies)
    assert accuracies.mean() > 0.9  # rings and stars are easily told apart
