"""Transformers that turn dicts, strings and other items into packed features.

Reading order: vocabulary.py, vectorizer.py, per_token.py, union.py.
"""
