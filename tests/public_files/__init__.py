"""Public kinds of files of labelled text, remade, and how they are read.

All have the same sentences, in the form of a corpus or a program that many use.
"""

from . import columns, records, tables, texts, treebanks

MODULES = (columns, treebanks, tables, records, texts)
KINDS = {name: kind for module in MODULES for name, kind in module.KINDS.items()}
