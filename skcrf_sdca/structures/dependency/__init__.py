"""Dependency trees: all of Python that knows that positions are arcs.

Reading order: scores.py (inference), parameters.py (the weights), structure.py, and
tree_terms.py (what explains a head).
data/dependencies.py reads arcs, and data/heads.py heads.
"""
