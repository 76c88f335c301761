"""Graph classifiers: SEP-G and its baselines, one file each; only the pooling differs.

All have three message-passing layers with skip connections to the classifier, pool to 25 % of the
nodes, and share the classifier of SEP-G. `sepool_experiments.models.systems` registers them and
imports a module on first use.
"""

from sepool.extras import needs

with needs("torch", "sepool_experiments.models.graphs"):
    import torch_geometric  # noqa: F401
