from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sepool.nn.dense import Dense  # noqa: E402


def test_dense_is_linear_then_relu():
    layer = Dense(3, 4)
    x = torch.randn(5, 3)
    torch.testing.assert_close(layer(x), (x @ layer.linear.weight).relu())
    normed = Dense(3, 4, norm=True)(x)
    assert (normed >= 0).all()
