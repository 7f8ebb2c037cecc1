"""A fitted model: its attributes, what it answers of data, and what its weights say.

Reading order: fitted.py and attribute_docs.py (attributes, and their text),
validation.py (arguments), answers.py (what every structure answers;
sequence_answers.py, segment_answers.py and graph_answers.py have the answers of one),
span_queries.py, inspection.py, explanation.py and tables.py (weights and terms of
scores), compression.py (fewer weights), start.py and held_out.py (a model in the fit of
another), raw_text.py (text that is cut as in the training).
"""
