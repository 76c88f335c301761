"""The command line ``sepool``."""
