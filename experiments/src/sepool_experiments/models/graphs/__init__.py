"""The systems SEP-G is compared with, one small file each: only the pooling differs.

All have three message-passing layers, hand what every layer found to the classifier (skip
connections), pool to 25 % of the nodes, and share the classifier of SEP-G. None is imported here:
`sepool_experiments.models.systems` names them all and loads the one that is asked for.
"""

from sepool.extras import needs

with needs("torch", "sepool_experiments.models.graphs"):
    import torch_geometric  # noqa: F401
