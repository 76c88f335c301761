"""Protocols as data: units, configurations, rules and tables."""
