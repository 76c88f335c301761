"""Layers and models that pool along a coding tree; needs torch and torch-geometric."""

from sepool.extras import needs

with needs("torch", "sepool_experiments.layers"):
    from sepool_experiments.layers.autoencoder import SEPAutoencoder
    from sepool_experiments.layers.linear import Linear
    from sepool_experiments.layers.sep_pooling import Pooled, SEPooling, SEPUnpooling
    from sepool_experiments.layers.sepg import SEPG
    from sepool_experiments.layers.sepn import SEPN

__all__ = ["SEPG", "SEPN", "Linear", "Pooled", "SEPAutoencoder", "SEPUnpooling", "SEPooling"]
