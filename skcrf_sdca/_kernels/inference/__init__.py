"""Inference on one item of each structure, and passes over all items."""
