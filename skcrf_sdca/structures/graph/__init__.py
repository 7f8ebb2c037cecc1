"""Graphs of small treewidth: all of Python that knows that labels stand on nodes.

Reading order: data/graphs.py (which nodes are joined), junction_tree.py (the order in
which nodes are eliminated), scores.py (inference), parameters.py (the weights),
marginals.py (the dual variables of SDCA), structure.py.
"""
