"""Compiled kernels: one chain at a time, without Python objects and without the GIL."""
