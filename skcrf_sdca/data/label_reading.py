"""How labels are read as spans: their names, the scheme, which join another.

Tagging schemes read names such as "B-PER". A model whose labels are numbers, as in data
of Hugging Face, keeps these as ``classes_``, and has names of them in ``label_names``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.typing import LabelNames
from skcrf_sdca.data.tagging_schemes import TAGGING_SCHEMES, get_scheme, parse_label

# What a message about a label that is no name says.
NAME_THEM = "Or keep the numbers, and give their names to the estimator: label_names=."


def names_of_labels(labels: list[Any], label_names: LabelNames | None) -> list[Any]:
    """Return the name of each label; the labels themselves if there are no names.

    `label_names` is a list whose entry i is the name of label i, or a dict. Raise
    ValueError or TypeError if a label has no name, or one that is not a str.

    >>> names_of_labels([0, 2], ["O", "B-PER", "I-PER"])
    ['O', 'I-PER']
    """
    if label_names is None:
        return labels
    named = label_names
    if not isinstance(named, dict):
        named = dict(enumerate(named))
    for label in labels:
        if label not in named:
            raise ValueError(
                f"label_names has no name for the label {label!r}; it must be a list "
                "whose entry i is the name of label i, or a dict {label: name}."
            )
        if not isinstance(named[label], str):
            raise TypeError(
                f"label_names: the name of label {label!r} is "
                f"{described(named[label])}; a name must be a str."
            )
    return [named[label] for label in labels]


def scheme_of(rule):
    """Return the scheme if a rule of what may follow what is the name of one, or "BIO".

    "BIO" also reads labels in IOB1 and IO, and refuses labels of the other schemes.
    """
    return rule if isinstance(rule, str) and rule in TAGGING_SCHEMES else "BIO"


class LabelReading(NamedTuple):
    """The labels of a model, read in a scheme.

    Attributes
    ----------
    names : list of str
        Names of the labels.
    scheme : str
    label_types : ndarray of shape (n_labels,)
        The number of the span type of each label; -1 for "O".
    joins : ndarray of shape (n_labels, n_labels), bool
        Which two labels, one after the other, are of one span.
    types : dict
        The number of each span type.
    """

    names: list[str]
    scheme: str
    label_types: NDArray[np.int64]
    joins: NDArray[np.bool_]
    types: dict[str, int]

    @classmethod
    def of(cls, names, scheme):
        """Read the names of labels; ValueError or TypeError if one is of no scheme."""
        rule = get_scheme(scheme)
        try:
            parsed = [parse_label(name, scheme) for name in names]
        except TypeError as error:
            raise TypeError(f"{error} {NAME_THEM}") from None
        except ValueError as error:
            raise ValueError(
                f"{error} The labels of the model need the scheme that they are in; "
                "give it with scheme=."
            ) from None
        found = dict.fromkeys(own for _, own in parsed if own is not None)
        types = {span_type: k for k, span_type in enumerate(found)}
        label_types = np.array([types.get(own, -1) for _, own in parsed])
        goes_on, continues = (
            np.array([prefix in letters for prefix, _ in parsed])
            for letters in (rule.goes_on, rule.continues)
        )
        joins = np.equal.outer(label_types, label_types)
        joins &= np.logical_and.outer(goes_on, continues)
        return cls(list(names), scheme, label_types, joins, types)

    def spans(self, path):
        """Return the spans of one label path, as `extract_spans` finds them.

        Their first positions, the positions after their last, and their types.
        """
        joined = np.zeros(len(path) + 1, dtype=bool)
        joined[1:-1] = self.joins[path[:-1], path[1:]]
        types = self.label_types[path]
        first = np.flatnonzero((types >= 0) & ~joined[:-1])
        last = np.flatnonzero((types >= 0) & ~joined[1:])
        return first, last + 1, types[first]

    def spans_of(self, path, scores):
        """Return the spans (type, begin, end, probability) of one label path, a list.

        ``scores`` are the scores of its sequence; None if they give no probabilities.
        """
        begin, end, types = self.spans(path)
        proba = [None] * len(begin)
        if scores is not None:
            rows = np.stack([np.zeros_like(begin), begin, end], axis=1)
            proba = scores.typed_span_probabilities(
                rows, types, self.label_types, self.joins
            ).tolist()
        names = list(self.types)
        columns = types.tolist(), begin.tolist(), end.tolist(), proba
        return [(names[k], b, e, p) for k, b, e, p in zip(*columns, strict=True)]
