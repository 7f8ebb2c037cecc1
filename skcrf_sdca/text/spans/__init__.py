"""Spans: their offsets in a text, and the labels of tokens that describe them.

`words` cuts a text; `offsets` and `units` count characters; `labels` writes tagging
schemes, and `label_forms` reads labels that are written in another way.
"""
