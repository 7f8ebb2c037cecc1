"""Structures: how the labels of a sequence, or of a graph, depend on each other.

A new structure is a folder, or a file, with a subclass of `Structure`, and one entry of
`STRUCTURES` in registry.py.
"""
