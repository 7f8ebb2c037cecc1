"""Structures: how the labels of a sequence depend on each other. Today the chain."""
