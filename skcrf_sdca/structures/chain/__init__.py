"""The linear chain: all of Python that knows that labels stand in a line.

Reading order: marginals.py, oracle.py (inference), parameters.py (the weights and the
scores), decoding.py (label paths), constraints.py (which label may follow which). Of
higher order: tuples.py (the states), tuple_parameters.py, tuple_structure.py (fits),
tuple_scores.py and fitted_tuples.py (predictions).
"""
