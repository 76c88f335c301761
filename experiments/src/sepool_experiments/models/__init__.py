"""Models of all systems, and the register of systems."""
