"""Edge weights from node features, for coding trees that see more than the structure.

`AddCodingTree(edge_weight=cosine_weights(0.5))` builds the tree of a graph whose edges weigh more
between nodes that look alike. What a model pools along the tree stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

Floats = NDArray[np.float64]
FLOOR = 0.01  # no edge is lost altogether: the tree of a connected graph stays connected


@dataclass(frozen=True)
class cosine_weights:
    """A function from PyG data to edge weights: the structure blended with cosine similarity.

    An edge weighs ``1 - blend + blend * max(cos(x_i, x_j), 0) / mean``; the similarities are
    divided by their mean over the edges, so that the blend means the same whatever the features.

    Args:
        blend: how much the features count: 0 is the structure alone, 1 the similarity alone.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> path = Data(x=torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), edge_index=edges)
        >>> cosine_weights(0.5)(path)
        tensor([1.5000, 1.5000, 0.5000, 0.5000], dtype=torch.float64)
    """

    blend: float = 0.5

    def __post_init__(self) -> None:
        _check_blend(self.blend)

    def __call__(self, data: Data) -> Tensor:
        """One weight an edge, the same in both directions."""
        import torch

        if data.x is None:
            raise ValueError("cosine_weights needs node features: set data.x, or take no weights")
        row, col = data.edge_index.cpu().numpy()
        found = blend_weights(cosine_similarity(data.x.cpu().numpy(), row, col), self.blend)
        return torch.from_numpy(found)


def cosine_similarity(x: ArrayLike, row: NDArray[np.int64], col: NDArray[np.int64]) -> Floats:
    """The cosine between the features at both ends of every edge; 0 where one end has none.

    Example:
        >>> edges = np.array([0, 0]), np.array([1, 2])
        >>> cosine_similarity([[1, 0], [2, 0], [0, 0]], *edges)
        array([1., 0.])
    """
    x = np.asarray(x, np.float64)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return _products(x / np.where(lengths > 0, lengths, 1), row, col)


def predicted_similarity(
    x: ArrayLike,
    row: NDArray[np.int64],
    col: NDArray[np.int64],
    y: NDArray[np.int64],
    train: NDArray[np.int64],
    power: int = 2,
    penalty: float = 0.01,
) -> Floats:
    """A learned similarity: how likely both ends of an edge are of one class.

    A ridge regression from smoothed features to the classes of the training nodes (the linear model
    of Wu et al., "Simplifying graph convolutional networks", 2019, with squared error, so that it
    has a solution in closed form) gives every node a distribution over classes; the similarity is
    the inner product of two of them. Labels of other nodes are not looked at.

    Args:
        x: the features, one row a node.
        row: one end of every edge; every edge is there in both directions.
        col: the other end.
        y: the class of every node, from 0.
        train: the nodes whose classes may be seen, by number or as a mask.
        power: how often features are smoothed.
        penalty: of the ridge regression, in proportion to the mean squared length of a row.

    Example:
        >>> row, col = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
        >>> x, y = np.eye(2)[[0, 0, 1, 1]], np.array([0, 0, 1, 1])
        >>> predicted_similarity(x, row, col, y, train=np.array([0, 3])).round(2)
        array([0.79, 0.79, 0.33, 0.33, 0.79, 0.79])
    """
    train = _numbers_of(train)
    scores = _ridge(x, row, col, y, train, power, penalty) + _one_hot(y[train]).mean(axis=0)
    chance = np.maximum(scores, 1e-6)
    return _products(chance / chance.sum(axis=1, keepdims=True), row, col)


def spread_similarity(
    x: ArrayLike,
    row: NDArray[np.int64],
    col: NDArray[np.int64],
    y: NDArray[np.int64],
    train: NDArray[np.int64],
    steps: int = 20,
    teleport: float = 0.1,
    sharpness: float = 4.0,
    penalty: float = 0.01,
) -> Floats:
    """How likely both ends of an edge are of one class, by predictions that know the whole graph.

    As `predicted_similarity`, but the regression sees the features as they are, and its predictions
    are spread instead, as in Klicpera et al., "Predict then propagate", 2019. A softmax makes
    distributions of them. Large clusters of the tree come out purer.

    Args:
        x: the features, one row a node.
        row: one end of every edge; every edge is there in both directions.
        col: the other end.
        y: the class of every node, from 0.
        train: the nodes whose classes may be seen, by number or as a mask.
        steps: how often predictions are spread.
        teleport: how much of its own prediction a node keeps each time.
        sharpness: the standard deviation of what goes into the softmax.
        penalty: of the ridge regression, in proportion to the mean squared length of a row.

    Example:
        >>> row, col = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
        >>> x, y = np.eye(2)[[0, 0, 1, 1]], np.array([0, 0, 1, 1])
        >>> spread_similarity(x, row, col, y, train=np.array([0, 3])).round(2)
        array([1., 1., 0., 0., 1., 1.])
    """
    start = scores = _ridge(x, row, col, y, _numbers_of(train), 0, penalty)
    for _ in range(steps):
        scores = (1 - teleport) * _smooth(scores, row, col, 1) + teleport * start
    scores = scores * (sharpness / max(float(scores.std()), 1e-12))
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    return _products(chance / chance.sum(axis=1, keepdims=True), row, col)


def _products(x: Floats, row: NDArray[np.int64], col: NDArray[np.int64]) -> Floats:
    """The inner product of the rows at both ends of every edge."""
    found = np.empty(len(row))
    for start in range(0, len(row), 1 << 14):  # what is gathered at once stays small
        part = slice(start, start + (1 << 14))
        found[part] = (x[row[part]] * x[col[part]]).sum(axis=1)
    return found


def _one_hot(classes: NDArray[np.int64]) -> Floats:
    found: Floats = np.eye(int(classes.max()) + 1)[classes]
    return found


def _numbers_of(train: ArrayLike) -> NDArray[np.int64]:
    """The nodes that a mask chooses; numbers stay as they are."""
    given = np.asarray(train)
    found = np.flatnonzero(given) if given.dtype == np.bool_ else given
    if not found.size:
        raise ValueError("train chooses no node, so there are no classes to learn")
    return found


def _ridge(
    x: ArrayLike,
    row: NDArray[np.int64],
    col: NDArray[np.int64],
    y: NDArray[np.int64],
    train: NDArray[np.int64],
    power: int,
    penalty: float,
) -> Floats:
    """How much more than usual a node looks like each class: a regression of smoothed features."""
    x = np.asarray(x, np.float64)
    pick = np.zeros((len(x), len(train)))
    pick[train, np.arange(len(train))] = 1
    # Only products with the few training rows are needed, so that the features are never smoothed.
    seen = _smooth(pick, row, col, power).T @ x
    kernel = seen @ seen.T
    kernel[np.diag_indices(len(train))] += penalty * np.trace(kernel) / len(train)
    classes = _one_hot(y[train])
    weights = np.linalg.solve(kernel, classes - classes.mean(axis=0))
    return _smooth(x @ (seen.T @ weights), row, col, power)


def _smooth(x: Floats, row: NDArray[np.int64], col: NDArray[np.int64], times: int) -> Floats:
    """``D^-1/2 (A + I) D^-1/2`` to a power, times ``x``."""
    scale = 1 / np.sqrt(np.bincount(row, minlength=len(x)) + 1.0)[:, None]
    for _ in range(times):
        sent = x * scale
        total = sent.copy()
        np.add.at(total, row, sent[col])
        x = total * scale
    return x


def blend_weights(similarity: Floats, blend: float) -> Floats:
    """``1 - blend + blend * similarity / mean``, and never below 0.01.

    Example:
        >>> blend_weights(np.array([0.0, 0.2, 0.4]), 0.5)
        array([0.5, 1. , 1.5])
    """
    _check_blend(blend)
    similarity = np.maximum(similarity, 0)
    mean = similarity.mean() if len(similarity) else 1.0
    return np.maximum(1 - blend + blend * similarity / (mean if mean > 0 else 1.0), FLOOR)


def _check_blend(blend: float) -> None:
    if not 0 <= blend <= 1:
        raise ValueError(f"blend must be 0 to 1, got {blend}")
