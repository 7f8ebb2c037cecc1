"""Vectors of numbers, transitions between labels, and steps along a line."""
