from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sepool.nn.dense import Dense  # noqa: E402


def test_dense_is_linear_then_relu():
    layer = Dense(3, 4)
    x = torch.randn(5, 3)
    torch.testing.assert_close(layer(x), (x @ layer.linear.weight).relu())
    layer = Dense(3, 4, norm=True)
    between = (x @ layer.linear.weight).relu()
    scaled = (between - between.mean(0)) / (between.var(0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(layer(x), scaled.relu(), atol=1e-5, rtol=1e-5)
