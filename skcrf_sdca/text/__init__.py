"""Text: files of columns, features of tokens, and labels of spans.

`read_conll` and `write_conll` own files of columns, `read_conllu` and `write_conllu`
the treebanks in CoNLL-U. `TokenFeatures` and its templates own the features that
taggers usually have. `convert_labels`, `repair_labels` and `spans_to_labels` write
labels in tagging schemes. All of it comes before an estimator or after it: none depends
on it.
"""

from skcrf_sdca.data.spans import extract_spans

from ._conll import read_conll, write_conll
from ._conllu import ConlluSentence, read_conllu, write_conllu
from ._features import DEFAULT_TEMPLATES, TokenFeatures
from ._span_labels import convert_labels, repair_labels, spans_to_labels
from ._templates import At, Joint, LabelPairs, Window
from ._values import (
    Apply,
    Prefix,
    Shape,
    Suffix,
    has_digit,
    has_hyphen,
    is_capitalized,
)

__all__ = [
    "DEFAULT_TEMPLATES",
    "Apply",
    "At",
    "ConlluSentence",
    "Joint",
    "LabelPairs",
    "Prefix",
    "Shape",
    "Suffix",
    "TokenFeatures",
    "Window",
    "convert_labels",
    "extract_spans",
    "has_digit",
    "has_hyphen",
    "is_capitalized",
    "read_conll",
    "read_conllu",
    "repair_labels",
    "spans_to_labels",
    "write_conll",
    "write_conllu",
]
