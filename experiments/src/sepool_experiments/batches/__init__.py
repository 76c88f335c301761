"""Batches of replicas, sliced from a dataset on a device."""
