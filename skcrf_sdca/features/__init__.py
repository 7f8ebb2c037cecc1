"""Transformers that make features: of dicts and strings, of columns, of several parts.

Reading order: vocabulary.py, vectorizer.py, per_token.py, union.py.
"""
