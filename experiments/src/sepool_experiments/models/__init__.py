"""Models of all systems, and their register."""
