"""Datasets of graphs and nodes: files, caches, splits, trees and checks."""
