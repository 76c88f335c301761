"""Edge weights from node features, for coding trees of structure and features.

`AddCodingTree(edge_weight=cosine_weights(0.5))` builds the tree of a graph whose edges weigh more
between similar nodes. The weights that a model pools along the tree do not change.
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
FLOOR = 0.01  # positive, so that a connected graph stays connected


@dataclass(frozen=True)
class cosine_weights:  # noqa: N801 - called like a function
    """A function from PyG data to edge weights: structure blended with cosine similarity.

    An edge weighs ``1 - blend + blend * max(cos(x_i, x_j), 0) / mean``. Similarities are divided by
    their mean over the edges, so that a blend has the same meaning for all features.

    Args:
        blend: the share of the features: 0 is the structure alone, 1 the similarity alone.

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
        """Return one weight an edge, equal in both directions."""
        import torch

        if data.x is None:
            raise ValueError("cosine_weights needs node features: set data.x, or take no weights")
        row, col = data.edge_index.cpu().numpy()
        similarity = cosine_similarity(data.x.detach().cpu().numpy(), row, col)
        return torch.from_numpy(blend_weights(similarity, self.blend))


def cosine_similarity(x: ArrayLike, row: NDArray[np.int64], col: NDArray[np.int64]) -> Floats:
    """Return the cosine between the features at both ends of every edge, 0 for zero features."""
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
    """Return a learned similarity: the probability that both ends of an edge are of one class.

    A ridge regression from smoothed features to the classes of the training nodes (the linear model
    of Wu et al., "Simplifying graph convolutional networks", 2019, with squared error for a
    solution in closed form) gives every node a distribution over classes; the similarity is the
    inner product of two of them. Labels of other nodes are not used.

    Args:
        x: the features, one row a node.
        row: one end of every edge; edges are listed in both directions.
        col: the other end.
        y: the class of every node, from 0.
        train: the training nodes, by number or as a mask.
        power: the number of smoothing steps.
        penalty: of the ridge regression, relative to the mean squared length of a row.

    Example:
        >>> row, col = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
        >>> x, y = np.eye(2)[[0, 0, 1, 1]], np.array([0, 0, 1, 1])
        >>> predicted_similarity(x, row, col, y, train=np.array([0, 3])).round(2)
        array([0.79, 0.79, 0.33, 0.33, 0.79, 0.79])
    """
    train = _node_numbers(train)
    scores = _ridge(x, row, col, y, train, power, penalty) + _one_hot(y[train]).mean(axis=0)
    probability = np.maximum(scores, 1e-6)
    return _products(probability / probability.sum(axis=1, keepdims=True), row, col)


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
    """Return a learned similarity from propagated predictions.

    As `predicted_similarity`, but the regression reads features without smoothing, and its
    predictions are propagated instead, as in Klicpera et al., "Predict then propagate", 2019; a
    softmax turns them into distributions. Large clusters of the tree are purer.

    Example:
        >>> row, col = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
        >>> x, y = np.eye(2)[[0, 0, 1, 1]], np.array([0, 0, 1, 1])
        >>> spread_similarity(x, row, col, y, train=np.array([0, 3])).round(2)
        array([1., 1., 0., 0., 1., 1.])
    """
    start = scores = _ridge(x, row, col, y, _node_numbers(train), 0, penalty)
    for _ in range(steps):
        scores = (1 - teleport) * _smooth(scores, row, col, 1) + teleport * start
    scores = scores * (sharpness / max(float(scores.std()), 1e-12))
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    return _products(probability / probability.sum(axis=1, keepdims=True), row, col)


def _products(x: Floats, row: NDArray[np.int64], col: NDArray[np.int64]) -> Floats:
    """Return the inner product of the rows at both ends of every edge."""
    products = np.empty(len(row))
    for start in range(0, len(row), 1 << 14):  # bounds the memory of the gathered rows
        part = slice(start, start + (1 << 14))
        products[part] = (x[row[part]] * x[col[part]]).sum(axis=1)
    return products


def _one_hot(classes: NDArray[np.int64]) -> Floats:
    rows: Floats = np.eye(int(classes.max()) + 1)[classes]
    return rows


def _node_numbers(train: ArrayLike) -> NDArray[np.int64]:
    """Return the nodes of a mask; numbers are returned as they are."""
    nodes = np.asarray(train)
    nodes = np.flatnonzero(nodes) if nodes.dtype == np.bool_ else nodes
    if not nodes.size:
        raise ValueError("train selects no node; expected at least one node with a class")
    return nodes


def _ridge(
    x: ArrayLike,
    row: NDArray[np.int64],
    col: NDArray[np.int64],
    y: NDArray[np.int64],
    train: NDArray[np.int64],
    power: int,
    penalty: float,
) -> Floats:
    """Return class scores of every node above the class means, by regression of features."""
    x = np.asarray(x, np.float64)
    pick = np.zeros((len(x), len(train)))
    pick[train, np.arange(len(train))] = 1
    # Smoothing is linear and symmetric: smoothing the selection of the few training rows is enough.
    smoothed = _smooth(pick, row, col, power).T @ x
    kernel = smoothed @ smoothed.T
    kernel[np.diag_indices(len(train))] += penalty * np.trace(kernel) / len(train)
    classes = _one_hot(y[train])
    weights = np.linalg.solve(kernel, classes - classes.mean(axis=0))
    return _smooth(x @ (smoothed.T @ weights), row, col, power)


def _smooth(x: Floats, row: NDArray[np.int64], col: NDArray[np.int64], steps: int) -> Floats:
    """Multiply ``x`` by ``D^-1/2 (A + I) D^-1/2``, ``steps`` times."""
    scale = 1 / np.sqrt(np.bincount(row, minlength=len(x)) + 1.0)[:, None]
    for _ in range(steps):
        messages = x * scale
        total = messages.copy()
        np.add.at(total, row, messages[col])
        x = total * scale
    return x


def blend_weights(similarity: Floats, blend: float) -> Floats:
    """Return ``1 - blend + blend * similarity / mean``, at least 0.01."""
    _check_blend(blend)
    similarity = np.maximum(similarity, 0)
    mean = similarity.mean() if len(similarity) else 1.0
    return np.maximum(1 - blend + blend * similarity / (mean if mean > 0 else 1.0), FLOOR)


def _check_blend(blend: float) -> None:
    if not 0 <= blend <= 1:
        raise ValueError(f"blend must be 0 to 1, got {blend}")
