"""Names of labels that are ids: the parameter ``label_names``, and who reads it.

Tagging schemes read names such as "B-PER". A model whose labels are numbers, as in data
of Hugging Face, keeps these as ``classes_``.
"""

from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.typing import LabelNames
from skcrf_sdca._utils.words import place
from skcrf_sdca.data.label_encoding import is_unknown, label_lists, plain_labels

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


def names_of_classes(estimator: Any, classes: NDArray[Any]) -> list[Any]:
    """Return the name of each class of an estimator that may have ``label_names``."""
    names = getattr(estimator, "label_names", None)
    return names_of_labels(plain_labels(classes), names)


def named_lists(estimator: Any, y: Any, name: str = "y") -> Any:
    """Return label lists with names, if a model, pipeline or search has some."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    names = getattr(estimator, "label_names", None)
    if names is None:
        return y
    found = []
    for i, labels in enumerate(label_lists(y, name)):
        try:
            found.append(names_of_labels(list(labels), names))
        except (TypeError, ValueError) as error:
            unknown_label = getattr(estimator, "unknown_label", None)
            is_partial = any(is_unknown(label, unknown_label) for label in labels)
            advice = " Spans are read only where every label is known." * is_partial
            raise type(error)(f"{place(name, i)}: {error}{advice}") from error
    return found
