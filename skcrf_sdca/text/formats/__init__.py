"""Formats of files: a small reader for each, and its writer if there is one.

A module knows its format and nothing else; ``corpora.FORMATS`` is the table of them.
"""
