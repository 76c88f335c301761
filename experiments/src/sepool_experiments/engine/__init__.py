"""Training of many replicas in lockstep."""
