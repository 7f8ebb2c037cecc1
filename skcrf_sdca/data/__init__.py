"""What goes in: packed sequences, and the forms in which users pass X and y.

Reading order: rows.py (the one form of feature rows), packed_file.py and packed.py (the
sequences, in memory and in a file), input_formats.py (what a user may pass as X),
tagging_schemes.py and label_encoding.py (labels).
"""
