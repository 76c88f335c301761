"""Experiments: protocols as data, lockstep training, results, reports and figures."""
