"""Text: reads files of columns as tokens, and turns tokens into feature strings.

`read_conll` and `write_conll` own files of columns, `read_conllu` and `write_conllu`
the treebanks in CoNLL-U. `TokenFeatures` and its templates own the features that
taggers usually have. All of it comes before a `SequenceVectorizer`: no estimator
depends on it.
"""

from ._conll import read_conll, write_conll
from ._conllu import ConlluSentence, read_conllu, write_conllu
from ._features import DEFAULT_TEMPLATES, TokenFeatures
from ._templates import At, Joint, Window
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
    "Prefix",
    "Shape",
    "Suffix",
    "TokenFeatures",
    "Window",
    "has_digit",
    "has_hyphen",
    "is_capitalized",
    "read_conll",
    "read_conllu",
    "write_conll",
    "write_conllu",
]
