"""Layers and models that pool along a coding tree; needs torch and torch-geometric."""

try:
    from sepool.nn.autoencoder import SEPAutoencoder
    from sepool.nn.linear import Linear
    from sepool.nn.sep_pooling import Pooled, SEPooling, SEPUnpooling
    from sepool.nn.sepg import SEPG
    from sepool.nn.sepn import SEPN
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("torch", "torch_geometric"):
        raise
    raise ImportError("sepool.nn needs PyTorch Geometric: pip install 'sepool[torch]'") from error

__all__ = ["SEPG", "SEPN", "Linear", "Pooled", "SEPAutoencoder", "SEPUnpooling", "SEPooling"]
