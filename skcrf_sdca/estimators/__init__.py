"""The scikit-learn estimators: their parameters and their fits.

Reading order: parameters.py, base.py with callbacks.py and solver_choice.py (a fit),
sequences.py, streams.py, crfs.py, segments.py and graphs.py (what is fitted),
alpha_path.py, stratification.py and model_selection.py (many fits), tagger.py (a
pipeline that ends in one). What a fitted estimator answers is in the folder model.
"""
