"""The transform that encodes the place of every node in the coding tree as features."""

from __future__ import annotations

from sepool.extras import needs
from sepool.pyg.hierarchy import EDGE_WEIGHT, Hierarchy, hierarchy

with needs("torch", "sepool.pyg.encoding"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Data
    from torch_geometric.transforms import BaseTransform

NUM_TERMS = 4  # a level


class AddTreeEncoding(BaseTransform):  # type: ignore[misc]
    r"""Adds the place of every node in its coding tree as ``4 * height`` features.

    For each of the levels 1, 2, ..., of the cluster :math:`c` that holds a node :math:`i` there:

    - :math:`\log_2 |c|`, its number of nodes;
    - :math:`\log_2 v_c / V`, its share of the volume of the graph;
    - the share of the node's degree that leads to nodes of :math:`c`;
    - :math:`\log_2 v_c / v_{c'}`, the bits of the step from :math:`c'`, the cluster of the node one
      level below (at level 1 the node itself, of volume :math:`d_i`).

    As the tree, volumes count ``edge_weight`` and no self-loops. Terms of nodes and clusters
    without edges are 0. The encoding of a node does not depend on the order of the nodes, where the
    tree does not.

    Args:
        attr_name: attribute for the encoding, as in PyG's positional encodings; None appends it to
            ``x``.
        attr: the attribute with the tree, as in `sepool.AddCodingTree`, which comes before.

    Example:
        >>> import sepool
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = sepool.AddCodingTree(height=2)(Data(edge_index=edges, num_nodes=4))
        >>> path = AddTreeEncoding()(path)
        >>> path.tree_pe[:, :4]  # level 1: two clusters of two nodes, half of the volume each
        tensor([[ 1.0000, -1.0000,  1.0000,  1.5850],
                [ 1.0000, -1.0000,  0.5000,  0.5850],
                [ 1.0000, -1.0000,  0.5000,  0.5850],
                [ 1.0000, -1.0000,  1.0000,  1.5850]])
    """

    def __init__(self, attr_name: str | None = "tree_pe", *, attr: str = "tree") -> None:
        named = isinstance(attr_name, str) and attr_name.isidentifier()
        if not named and attr_name is not None:
            raise TypeError(f"attr_name must name an attribute or be None, got {attr_name!r}")
        if attr_name == attr:
            raise ValueError(f"attr_name and attr are both {attr!r}; the tree must stay as it is")
        self.attr_name, self.attr = attr_name, attr

    def forward(self, data: Data) -> Data:
        """Add the encoding in place; calling the transform adds it to a shallow copy."""
        encoding = tree_encoding(data, hierarchy(data, self.attr))
        if self.attr_name is not None:
            data[self.attr_name] = encoding
            return data
        x = data.get("x", None)
        if x is not None:
            x = x.view(-1, 1) if x.dim() == 1 else x
            encoding = torch.cat([x, encoding.to(x)], -1)
        data.x = encoding
        return data

    def __repr__(self) -> str:
        return f"AddTreeEncoding(attr_name={self.attr_name!r})"


def tree_encoding(data: Data, levels: Hierarchy) -> Tensor:
    """Return the features of `AddTreeEncoding` for the nodes of a graph or batch."""
    (row, col), weight = data.edge_index, data.get(EDGE_WEIGHT, None)
    weight = torch.ones(row.size(0), device=row.device) if weight is None else weight.detach()
    weight = weight.double() * (row != col)
    nodes = levels.num_clusters(0)

    def at_nodes(values: Tensor) -> Tensor:
        """Half of the sums over both ends of the edges."""
        total = values.new_zeros(nodes).index_add(0, row, values)
        return total.index_add(0, col, values) / 2

    degree = at_nodes(weight)
    cluster = torch.arange(nodes, device=row.device)
    volume, size, below = degree, torch.ones_like(degree), degree
    sizes, volumes, inside, bits = [], [], [], []
    for level in range(1, levels.height + 1):
        up = levels.assignment(level)
        zeros = volume.new_zeros(levels.num_clusters(level))
        volume, size = zeros.index_add(0, up, volume), zeros.index_add(0, up, size)
        cluster = up[cluster]
        volumes.append(volume[cluster])
        sizes.append(size[cluster].log2())
        inside.append(at_nodes(weight * (cluster[row] == cluster[col])) / degree)
        bits.append((volumes[-1] / below).log2())
        below = volumes[-1]
    shares = [(volume / volumes[-1]).log2() for volume in volumes]
    terms = [term for level in zip(sizes, shares, inside, bits, strict=True) for term in level]
    encoding = torch.stack(terms, -1)
    return encoding.masked_fill(~encoding.isfinite(), 0).float()
