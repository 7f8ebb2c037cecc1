"""Text: files of columns, features of tokens, and labels of spans.

`read_conll` and `write_conll` own files of columns, `read_conllu` and `write_conllu`
the treebanks in CoNLL-U. `TokenFeatures` and its templates own the features that
taggers usually have. `convert_labels`, `repair_labels` and `spans_to_labels` write
labels in tagging schemes. All of it comes before an estimator or after it: none depends
on it.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._utils.lazy import lazy

if TYPE_CHECKING:
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

# The names of each module: templates are of use without scikit-learn, too.
_MODULES = {
    ".data.spans": "extract_spans",
    "_conll": "read_conll write_conll",
    "_conllu": "ConlluSentence read_conllu write_conllu",
    "_features": "DEFAULT_TEMPLATES TokenFeatures",
    "_span_labels": "convert_labels repair_labels spans_to_labels",
    "_templates": "At Joint LabelPairs Window",
    "_values": "Apply Prefix Shape Suffix has_digit has_hyphen is_capitalized",
}

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__, {n: module for module, own in _MODULES.items() for n in own.split()}
    )
