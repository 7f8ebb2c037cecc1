"""The features and the labels that all partitions have in common.

The features are numbered as one fit on all partitions, one after the other, would
number them, so that the model does not depend on how the data was partitioned.
"""

import numpy as np

from skcrf_sdca.data.label_encoding import encode_labels, plain_labels
from skcrf_sdca.features.vectorizer import SequenceVectorizer


def agree(summaries):
    """Return the fitted attributes of all partitions, and how each is translated.

    The attributes are the same as after one fit on all partitions. For each partition
    there are two arrays: the common number of each of its features, and of each of its
    classes. TypeError or ValueError names a partition that differs in input format,
    number of features or type of labels.
    """
    first = summaries[0].attributes
    _check_equal(summaries, "_input_format", "input format")
    _check_templates(summaries)
    classes, codes = _common_classes(summaries)
    attributes = {**first, "classes_": classes}
    if "vectorizer_" in first:
        vectorizer, columns = _common_vectorizer(summaries)
        attributes["vectorizer_"] = vectorizer
        attributes["n_features_in_"] = vectorizer.n_features_out_
    else:
        _check_equal(summaries, "n_features_in_", "this number of features:")
        _check_names(summaries)
        columns = [summary.columns for summary in summaries]
    return attributes, columns, codes


def _check_equal(summaries, name, what):
    first = summaries[0]
    for summary in summaries:
        if summary.attributes[name] != first.attributes[name]:
            raise ValueError(
                f"partition {summary.number} has {what} {summary.attributes[name]!r}, "
                f"but partition {first.number} has {first.attributes[name]!r}; all "
                "must be alike."
            )


def _check_templates(summaries):
    packed = [summary for summary in summaries if summary.templates is not None]
    for summary in packed:
        if summary.templates != packed[0].templates:
            raise ValueError(
                f"partition {summary.number} was packed with other templates or "
                f"columns than partition {packed[0].number}; pack all with the same."
            )


def _check_names(summaries):
    first = summaries[0]
    names = first.attributes.get("_feature_names")
    for summary in summaries:
        if summary.attributes.get("_feature_names") != names:
            raise ValueError(
                f"partition {summary.number} and partition {first.number} differ in "
                "the names of features or their order; all must have the same, or none."
            )


def _common_classes(summaries):
    """Return the classes of all, and the common numbers of each partition's classes."""
    own = [plain_labels(summary.attributes["classes_"]) for summary in summaries]
    label_type = type(own[0][0])
    for summary, classes in zip(summaries, own, strict=True):
        if type(classes[0]) is not label_type:
            raise TypeError(
                f"partition {summary.number} has labels of type "
                f"{type(classes[0]).__name__}, but partition {summaries[0].number} of "
                f"type {label_type.__name__}; all must be of one type."
            )
    sizes = [len(classes) for classes in own]
    classes, codes = encode_labels(own, sizes)
    return classes, np.split(codes, np.cumsum(sizes)[:-1])


def _common_vectorizer(summaries):
    """Return a vectorizer of all features, and the numbers of each partition's own."""
    # The number of each feature, as `_features` names it.
    numbers = {}
    sizes, columns = {}, []
    for summary in summaries:
        vectorizer = summary.attributes["vectorizer_"]
        for key, block in vectorizer.vocabulary_["vectors"].items():
            if sizes.setdefault(key, len(block)) != len(block):
                raise ValueError(
                    f"partition {summary.number} has {len(block)} numbers in the array "
                    f"{key!r}, but one before has {sizes[key]}."
                )
        features = _features(vectorizer)
        own = (numbers.setdefault(feature, len(numbers)) for feature in features)
        columns.append(np.fromiter(own, np.intp, len(features)))
    vocabulary = {"numeric": {}, "categorical": {}, "vectors": {}}
    for (group, key, value), number in numbers.items():
        if group == "numeric":
            vocabulary[group][key] = number
        elif group == "categorical":
            vocabulary[group].setdefault(key, {})[value] = number
        else:
            vocabulary[group].setdefault(key, [0] * sizes[key])[value] = number
    vectorizer = SequenceVectorizer()
    vectorizer.vocabulary_ = vocabulary
    vectorizer.n_features_out_ = len(numbers)
    vectorizer.input_format_ = summaries[0].attributes["_input_format"]
    return vectorizer, columns


def _features(vectorizer):
    """Return the features in the order of their numbers, each (group, key, value)."""
    vocabulary = vectorizer.vocabulary_
    features = [None] * vectorizer.n_features_out_
    for key, number in vocabulary["numeric"].items():
        features[number] = "numeric", key, None
    for key, table in vocabulary["categorical"].items():
        for value, number in table.items():
            features[number] = "categorical", key, value
    for key, block in vocabulary["vectors"].items():
        for component, number in enumerate(block):
            features[number] = "vectors", key, component
    return features
