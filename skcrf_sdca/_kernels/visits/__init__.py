"""Visits of single items: the kernel of each solver."""
