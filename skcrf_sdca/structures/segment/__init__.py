"""The semi-Markov chain: segments that follow each other without gaps.

grammar.py says which labels the tokens of a segment have, scores.py is inference,
parameters.py the weights, and structure.py the `Structure`.
"""
