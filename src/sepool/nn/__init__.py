"""Layers and models that pool along a coding tree; needs torch and torch-geometric."""

from sepool.extras import needs

with needs("torch", "sepool.nn"):
    from sepool.nn.autoencoder import SEPAutoencoder
    from sepool.nn.linear import Linear
    from sepool.nn.sep_pooling import Pooled, SEPooling, SEPUnpooling
    from sepool.nn.sepg import SEPG
    from sepool.nn.sepn import SEPN

__all__ = ["SEPG", "SEPN", "Linear", "Pooled", "SEPAutoencoder", "SEPUnpooling", "SEPooling"]
