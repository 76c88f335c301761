"""The karate club and a nested clustering of it, for tests of scores."""

from __future__ import annotations

import networkx as nx
import numpy as np

import sepool


def karate(names=False):
    """Return the graph, with names of letters if wanted."""
    graph = nx.karate_club_graph()
    return nx.relabel_nodes(graph, name_of) if names else graph


def name_of(node):
    return f"m{node:02d}"


def clubs(graph):
    """Return the club of every member, in the order of the nodes."""
    return [graph.nodes[node]["club"] for node in graph]


def nested(graph):
    """Return levels of four and two clusters."""
    coarse = np.array([club == "Officer" for club in clubs(graph)]).astype(int)
    fine = 2 * coarse + np.arange(len(coarse)) % 2
    return sepool.CodingTree.from_levels(graph, [fine, coarse])
