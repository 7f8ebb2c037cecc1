"""The scikit-learn estimators: how they are fitted, asked and shown.

Reading order: fitted.py and validation.py (attributes and arguments), answers.py,
span_queries.py, inspection.py, explanation.py and compression.py (what a
fitted estimator answers; prediction.py, segment_answers.py and graph_prediction.py have
the answers of one structure), callbacks.py, base.py and crfs.py (fit), alpha_path.py,
stratification.py and model_selection.py (many fits), tagger.py (a pipeline that ends in
one).
"""
