"""Layers and pooling operations of several models."""
