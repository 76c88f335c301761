"""SEP-N as it is trained: with a first layer that uses how sparse the features are."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor
from torch_geometric.data import Data

from sepool_experiments.layers import SEPN
from sepool_experiments.layers.convs import GCN
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.nodes.model import Sparse, product_with

DENSE = 0.03  # from this share of nonzero features on, one large matrix product is faster


@dataclass
class SparseBatch(ReplicaBatch):
    """A graph with its features by their nonzero entries."""

    sparse: Sparse = field(kw_only=True)


class SparseSEPN(SEPN):
    """`sepool_experiments.layers.SEPN`, which computes ``S (X W)`` from the nonzero features alone.

    A bag of words has a few dozen of several thousand: with many replicas that is a few times
    faster than the product of dense matrices. Arguments as in `sepool_experiments.layers.SEPN`.

    Attributes:
        decayed: which parameters are the first layer (see `NodeModel`).
    """

    decayed = ("convs.0",)

    def prepare(self, data: Data, gather: bool = True) -> ReplicaBatch:
        """What depends on no weights."""
        sparse = isinstance(self.convs[0], GCN) and float((data.x != 0).float().mean()) < DENSE
        found = super().prepare(data, gather and not sparse)
        if not sparse:
            return found
        return SparseBatch(**vars(found), sparse=Sparse.of(data.x))

    def _begin(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        conv = self.convs[0]
        if not isinstance(batch, SparseBatch) or not isinstance(conv, GCN):
            return super()._begin(x, batch)
        product = product_with(conv.linear, batch.sparse, self.input_drop)
        return conv.linear.shift(conv.gather(product, batch.operators[0]))
