"""State machines: trees of a graph that changes, files of trees, and the command line."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typer.testing import CliRunner

import sepool
from sepool.cli import app as cli

NODES = 8
PAIRS = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
NAMES = st.sampled_from(["a", "b", "ü", "long" * 60])
ENDINGS = st.sampled_from([".json", ".npz"])
EXIT_CODES = {0, 1, 2}


def entropy(edges, tree):
    """Return Eq. 3 of the paper: -g / V log (v / v of the parent), over all nodes but the root."""
    edges = [(u, v) for u, v in edges if u != v]
    labels = [list(range(NODES)), *(tree.labels(level) for level in range(1, tree.height + 1))]
    bits = 0.0
    for lower, upper in pairwise(labels):
        volume, above, boundary = Counter(), Counter(), Counter()
        for u, v in edges:
            volume.update((lower[u], lower[v]))
            above.update((upper[u], upper[v]))
            if lower[u] != lower[v]:
                boundary.update((lower[u], lower[v]))
        parent = dict(zip(lower, upper, strict=True))
        for cluster, weight in boundary.items():
            ratio = volume[cluster] / above[parent[cluster]]
            bits -= weight / (2 * len(edges)) * math.log2(ratio)
    return bits


class ChangingGraph(RuleBasedStateMachine):
    """A graph that gains and loses edges, its tree, and updates of it."""

    @initialize(edges=st.lists(PAIRS, min_size=1, max_size=12), height=st.integers(1, 4))
    def search(self, edges, height):
        self.edges = list(edges)
        self.tree = sepool.coding_tree(self.graph(), height)

    def graph(self):
        return sepool.as_graph([*self.edges], num_nodes=NODES)

    @rule(pair=PAIRS)
    def add(self, pair):
        self.edges.append(pair)
        self.tree = sepool.update(self.tree, self.graph())

    @precondition(lambda self: self.edges)
    @rule(index=st.integers(0, 100))
    def remove(self, index):
        self.edges.pop(index % len(self.edges))
        self.tree = sepool.update(self.tree, self.graph())

    @rule(height=st.integers(1, 4), seed=st.integers(0, 3))
    def search_again(self, height, seed):
        self.tree = sepool.coding_tree(self.graph(), height, seed=seed)

    @rule()
    def read_back(self):
        levels = [self.tree.labels(level) for level in range(1, self.tree.height)]
        again = sepool.CodingTree.from_levels(self.graph(), levels)
        assert math.isclose(again.entropy, self.tree.entropy, abs_tol=1e-9)

    @invariant()
    def tree_is_of_the_graph(self):
        if not hasattr(self, "tree"):
            return
        assert self.tree.num_nodes == NODES
        bits = entropy(self.edges, self.tree)
        assert math.isclose(bits, self.tree.entropy, abs_tol=1e-9)
        for level in range(1, self.tree.height):
            upper = {}
            pairs = zip(self.tree.labels(level), self.tree.labels(level + 1), strict=True)
            assert all(upper.setdefault(low, high) == high for low, high in pairs)


class TreeFiles(RuleBasedStateMachine):
    """Files of trees, written, replaced and damaged; a model holds what each should contain."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.whole = {}
        self.damaged = set()

    def teardown(self):
        shutil.rmtree(self.folder)

    @rule(
        name=NAMES,
        ending=ENDINGS,
        edges=st.lists(PAIRS, min_size=1, max_size=9),
        height=st.integers(1, 3),
    )
    def save(self, name, ending, edges, height):
        tree = sepool.coding_tree(edges, height)
        path = self.folder / f"{name}{ending}"
        tree.save(path)
        self.whole[path] = tree
        self.damaged.discard(path)

    @precondition(lambda self: self.whole)
    @rule(data=st.data())
    def damage(self, data):
        path = data.draw(st.sampled_from(sorted(self.whole)))
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content = content[:place]
        else:
            content[place] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        del self.whole[path]
        self.damaged.add(path)

    @rule(name=NAMES, ending=ENDINGS)
    def save_fails(self, name, ending):
        path = self.folder / f"{name}{ending}"
        before = path.read_bytes() if path.exists() else None
        try:
            sepool.coding_tree([(print, "a")], 2).save(path)  # a function is no name of a file
        except TypeError:
            assert (path.read_bytes() if path.exists() else None) == before
        else:
            raise AssertionError("a function was stored")

    @invariant()
    def files_are_as_saved(self):
        assert set(self.folder.iterdir()) == set(self.whole) | self.damaged
        for path, tree in self.whole.items():
            loaded = sepool.CodingTree.load(path)
            assert loaded.entropy == tree.entropy
            assert loaded.names == tree.names
            assert np.array_equal(loaded.parent, tree.parent)
        for path in self.damaged:
            try:
                sepool.CodingTree.load(path)
            except sepool.TreeFormatError:
                continue


VALUES = st.sampled_from(["0", "1", "2", "3", "-1", "x", "", "1e9", "65", "best", "paper"])
FILES = st.sampled_from(["graph.txt", "graph.csv", "tree.json", "none.txt", "bad.txt", ".", "-"])
OUTPUTS = st.sampled_from(
    ["out.json", "out.csv", "out.png", "out", "graph.txt", "no/out.json", "."]
)
FLAGS = st.sampled_from(["--json", "--unweighted", "--self-loops", "-x"])
OPTIONS = ["--height", "--method", "--seed", "--trials", "--threads", "--format", "--columns"]


class Command(RuleBasedStateMachine):
    """Any options and files of the commands: one line and an exit code, or the result."""

    def __init__(self):
        super().__init__()
        self.before, self.folder = os.getcwd(), Path(tempfile.mkdtemp())
        os.chdir(self.folder)
        (self.folder / "graph.txt").write_text("a b\nb c\nc a\nc d\n")
        (self.folder / "graph.csv").write_text("source,target,weight\n0,1,2\n1,2,1\n")
        (self.folder / "bad.txt").write_text("a b c d e\n")
        sepool.coding_tree([("a", "b"), ("b", "c")], 2).save(self.folder / "tree.json")

    def teardown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    @rule(
        graph=FILES,
        options=st.lists(st.tuples(st.sampled_from(OPTIONS), VALUES), max_size=3),
        flags=st.lists(
            st.sampled_from(["--json", "--unweighted", "--self-loops", "-x"]), max_size=2
        ),
        output=st.none() | OUTPUTS,
        labels=st.none() | OUTPUTS,
    )
    def tree(self, graph, options, flags, output, labels):
        args = ["tree", graph, *[part for pair in options for part in pair], *flags]
        for option, path in (("-o", output), ("--labels", labels)):
            args += [] if path is None else [option, path]
        self.run(args, [path for path in (output, labels) if path is not None])

    @rule(graph=FILES, clusters=FILES, flags=st.lists(st.sampled_from(["--json"]), max_size=1))
    def score(self, graph, clusters, flags):
        self.run(["score", graph, clusters, *flags], [])

    def run(self, args, outputs):
        inputs = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        done = CliRunner().invoke(cli.app, args, input="0 1\n1 2\n")
        assert done.exit_code in EXIT_CODES, (args, done.output, done.exception)
        if done.exit_code:
            assert done.stdout == ""
            last = done.stderr.splitlines()[-1]
            assert last.startswith("sepool: "), (args, done.stderr)
            assert len([line for line in done.stderr.splitlines() if line[:6] != "note: "]) == 1
            assert "(--debug shows where)" not in last, (args, last)
        elif "--json" in args:
            json.loads(done.stdout)
        for path, content in inputs.items():
            assert path.read_bytes() == content or path.name in outputs
        written = {path.name for path in self.folder.iterdir()} - {path.name for path in inputs}
        assert written <= set(outputs if not done.exit_code else ())


for machine in (ChangingGraph, TreeFiles, Command):
    name = f"Test{machine.__name__}"
    globals()[name] = machine.TestCase
    if settings.default.max_examples == 100:  # not `make fuzz`
        globals()[name].settings = settings(max_examples=15, stateful_step_count=8, deadline=None)
del name
