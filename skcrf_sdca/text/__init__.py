"""Text: files of columns to sequences of tokens, and tokens to features with names.

`read_conll` and `write_conll` own the format of files. `TokenFeatures` and its
templates own the features that people write again and again. It all comes before a
`SequenceVectorizer`: no estimator knows of it.
"""

from ._conll import read_conll, write_conll
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
    "write_conll",
]
