"""Structures: how the labels of a sequence, or of a graph, depend on each other.

A new structure is a folder, or a file, with a subclass of `Structure`. One entry of
`STRUCTURES` in registry.py, or one call of `persistence.register`, makes it known.
"""
