"""Experiments: protocols as data, engines that run their trainings, results and reports.

Nothing heavy is imported here; ``import sepool`` and ``sepool --help`` stay fast.
"""
