"""Triton kernels, used on a GPU in place of PyTorch; `registry` lists and switches them."""
