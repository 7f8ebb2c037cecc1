"""Transformers that turn dicts, strings and other items into packed features.

Reading order: transformer.py, vocabulary.py, vectorizer.py, per_token.py, union.py.
"""
