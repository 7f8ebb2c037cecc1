"""Solvers: each owns the state of one run and one epoch; base.py owns the loop."""
