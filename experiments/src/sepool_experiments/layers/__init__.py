"""Layers of replicas: many trainings as one model, weights with a leading replica axis."""
