"""Tasks of the protocol longrange: graphs with features, targets and a fixed split."""
