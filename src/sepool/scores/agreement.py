"""Agreement of a clustering with the truth: AMI and NMI, by scikit-learn."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from sepool.extras import needs


class Agreement(NamedTuple):
    """Mutual information of two clusterings, normalised by the mean of their entropies.

    Attributes:
        ami: adjusted for chance: 1 for equal clusterings, 0 expected for independent ones.
        nmi: not adjusted: 0 to 1, larger for many small clusters.
    """

    ami: float
    nmi: float


def agreement(labels: NDArray[Any], truth: NDArray[Any]) -> Agreement:
    """Return the agreement of the clusters of every node with the true ones.

    Raises:
        sepool.extras.MissingPackage: scikit-learn is not installed.

    Example:
        >>> import numpy as np
        >>> agreement(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
        Agreement(ami=1.0, nmi=1.0)
    """
    with needs("cluster", "agreement with the truth"):
        from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
    return Agreement(
        float(adjusted_mutual_info_score(truth, labels)),
        float(normalized_mutual_info_score(truth, labels)),
    )
