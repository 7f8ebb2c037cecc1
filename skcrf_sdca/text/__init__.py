"""Text: files of labelled text, features of tokens, and labels of spans.

`read_corpus` reads all formats, and `write_corpus` writes texts with spans, by one
table of formats. `read_conll` and
`write_conll` own files of columns, `read_conllu` and `write_conllu` the treebanks in
CoNLL-U; `clean_trees` counts and repairs faults of their trees. `TokenFeatures`
and its templates own the features that
taggers usually have; `Lookup` and `Regex` are those that lists of words and regular
expressions define. `tokenize` and `align_spans` own tokens and spans of raw text, and
`TaggedText` is what a model says of one.
`convert_labels`, `repair_labels`, `spans_to_labels` and `unify_labels` write
labels in tagging schemes. All of it comes before an estimator or after it: none depends
on it.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._utils.lazy import lazy

if TYPE_CHECKING:
    from skcrf_sdca.data.spans import extract_spans
    from skcrf_sdca.data.tree_faults import TreeFaults, clean_trees

    from .core.passages import TextSource
    from .core.reading import ReadingWarning
    from .corpora import read_corpus
    from .features.arc_features import ArcFeatures
    from .features.arc_templates import arc_templates
    from .features.data_values import Lookup, Regex
    from .features.templates import DEFAULT_TEMPLATES, At, Joint, LabelPairs, Window
    from .features.token_features import TokenFeatures
    from .features.values import (
        Apply,
        Prefix,
        Shape,
        Suffix,
        has_digit,
        has_hyphen,
        is_capitalized,
    )
    from .formats.conll import read_conll, write_conll
    from .formats.conllu import ConlluSentence, read_conllu, write_conllu
    from .spans.label_forms import unify_labels
    from .spans.labels import convert_labels, repair_labels, spans_to_labels
    from .spans.offsets import align_spans, char_spans, token_offsets, tokenize
    from .spans.words import is_punctuation
    from .tagged import TaggedSentence, TaggedText, TextSpan
    from .writing import write_corpus

__all__ = [
    "DEFAULT_TEMPLATES",
    "Apply",
    "ArcFeatures",
    "At",
    "ConlluSentence",
    "Joint",
    "LabelPairs",
    "Lookup",
    "Prefix",
    "ReadingWarning",
    "Regex",
    "Shape",
    "Suffix",
    "TaggedSentence",
    "TaggedText",
    "TextSource",
    "TextSpan",
    "TokenFeatures",
    "TreeFaults",
    "Window",
    "align_spans",
    "arc_templates",
    "char_spans",
    "clean_trees",
    "convert_labels",
    "extract_spans",
    "has_digit",
    "has_hyphen",
    "is_capitalized",
    "is_punctuation",
    "read_conll",
    "read_conllu",
    "read_corpus",
    "repair_labels",
    "spans_to_labels",
    "token_offsets",
    "tokenize",
    "unify_labels",
    "write_conll",
    "write_conllu",
    "write_corpus",
]

# The names of each module: templates are of use without scikit-learn, too.
_MODULES = {
    ".data.spans": "extract_spans",
    ".data.tree_faults": "TreeFaults clean_trees",
    "features.arc_features": "ArcFeatures",
    "features.arc_templates": "arc_templates",
    "formats.conll": "read_conll write_conll",
    "formats.conllu": "ConlluSentence read_conllu write_conllu",
    "corpora": "read_corpus",
    "features.data_values": "Lookup Regex",
    "features.token_features": "TokenFeatures",
    "spans.label_forms": "unify_labels",
    "spans.offsets": "align_spans char_spans token_offsets tokenize",
    "spans.words": "is_punctuation",
    "core.passages": "TextSource",
    "core.reading": "ReadingWarning",
    "tagged": "TaggedSentence TaggedText TextSpan",
    "spans.labels": "convert_labels repair_labels spans_to_labels",
    "features.templates": "DEFAULT_TEMPLATES At Joint LabelPairs Window",
    "writing": "write_corpus",
    "features.values": "Apply Prefix Shape Suffix has_digit has_hyphen is_capitalized",
}

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__, {n: module for module, own in _MODULES.items() for n in own.split()}
    )
