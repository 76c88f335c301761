"""The explorer page: its scripts and style, and the data that they read."""
