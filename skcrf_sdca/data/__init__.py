"""Input data: packed sequences, and the forms in which users pass X and y.

Reading order: rows.py (the form of feature rows), feature_names.py (the names of
features), packed_file.py and packed.py (the sequences in a file and in memory),
containers.py, tagging_schemes.py, label_encoding.py, label_names.py and spans.py
(labels), label_runs.py (tables that look like recordings), input_formats.py (what a
user may pass as X).
"""
