"""The features and the labels that all partitions have in common.

The features are numbered as one fit on all partitions, one after the other, would
number them, so that the model does not depend on how the data was partitioned.
"""

import numpy as np

from skcrf_sdca.data.label_encoding import encode_labels
from skcrf_sdca.features.vectorizer import SequenceVectorizer


def agree(summaries):
    """Return what the partitions have in common, and the numbers each must translate.

    Parameters
    ----------
    summaries : list of Summary
        At least one.

    Returns
    -------
    attributes : dict
        Fitted attributes about the data, as those of one fit on all partitions.
    columns : list of ndarrays of int
        For each partition: the common number of each of its features.
    codes : list of ndarrays of int
        For each partition: the common number of each of its classes.

    Raises
    ------
    TypeError, ValueError
        If the partitions differ in input format, number of features or type of labels;
        the message names the partition.
    """
    first = summaries[0].attributes
    _check_equal(summaries, "_input_format", "input format")
    classes, codes = _common_classes(summaries)
    attributes = {**first, "classes_": classes}
    if "vectorizer_" in first:
        vectorizer, columns = _common_vectorizer(summaries)
        attributes["vectorizer_"] = vectorizer
        attributes["n_features_in_"] = vectorizer.n_features_out_
    else:
        _check_equal(summaries, "n_features_in_", "this number of features:")
        columns = [summary.columns for summary in summaries]
    return attributes, columns, codes


def _check_equal(summaries, name, what):
    first = summaries[0].attributes[name]
    for p, summary in enumerate(summaries):
        if summary.attributes[name] != first:
            raise ValueError(
                f"partition {p} has {what} {summary.attributes[name]!r}, but partition "
                f"0 has {first!r}; all must be alike."
            )


def _common_classes(summaries):
    """Return the classes of all, and the numbers of those of each."""
    own = [summary.attributes["classes_"].tolist() for summary in summaries]
    label_type = type(own[0][0])
    for p, classes in enumerate(own):
        if type(classes[0]) is not label_type:
            raise TypeError(
                f"partition {p} has labels of type {type(classes[0]).__name__}, but "
                f"partition 0 of type {label_type.__name__}; all must be of one type."
            )
    sizes = [len(classes) for classes in own]
    classes, codes = encode_labels(own, sizes)
    return classes, np.split(codes, np.cumsum(sizes)[:-1])


def _common_vectorizer(summaries):
    """Return a vectorizer of all features, and the numbers of those of each."""
    tables = _Tables()
    columns = [
        tables.numbers(p, summary.attributes["vectorizer_"])
        for p, summary in enumerate(summaries)
    ]
    vectorizer = SequenceVectorizer()
    vectorizer.vocabulary_ = tables.finished()
    vectorizer.n_features_out_ = tables.n_features
    vectorizer.input_format_ = summaries[0].attributes["_input_format"]
    return vectorizer, columns


class _Tables:
    """A vocabulary that grows by those of the partitions."""

    def __init__(self):
        self.vocabulary = {"numeric": {}, "categorical": {}}
        # Blocks of an array as dicts {component: number}.
        self._vectors = {}
        self.n_features = 0

    def numbers(self, partition, vectorizer):
        """Return the numbers of the features of a partition; new ones are added."""
        own = vectorizer.vocabulary_
        places = [None] * vectorizer.n_features_out_
        for name, number in own["numeric"].items():
            places[number] = self.vocabulary["numeric"], name
        for key, table in own["categorical"].items():
            common = self.vocabulary["categorical"].setdefault(key, {})
            for value, number in table.items():
                places[number] = common, value
        for key, block in own["vectors"].items():
            common = self._vectors.setdefault(key, dict.fromkeys(range(len(block))))
            if len(common) != len(block):
                raise ValueError(
                    f"partition {partition} has {len(block)} numbers in the array "
                    f"{key!r}, but one before has {len(common)}."
                )
            for component, number in enumerate(block):
                places[number] = common, component
        return np.fromiter(
            (self._number(*place) for place in places), np.intp, len(places)
        )

    def _number(self, table, name):
        number = table.get(name)
        if number is None:
            number = table[name] = self.n_features
            self.n_features += 1
        return number

    def finished(self):
        """Return the vocabulary, in the form of `SequenceVectorizer.vocabulary_`."""
        vectors = {key: list(block.values()) for key, block in self._vectors.items()}
        return {**self.vocabulary, "vectors": vectors}
