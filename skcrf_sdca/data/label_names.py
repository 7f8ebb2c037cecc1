"""Names of the labels of an estimator that has the parameter ``label_names``."""

from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.words import place
from skcrf_sdca.data.label_encoding import is_unknown, label_lists, plain_labels
from skcrf_sdca.data.label_reading import names_of_labels


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
