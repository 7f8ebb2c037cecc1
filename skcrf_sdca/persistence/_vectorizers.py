"""Converts vectorizers to entries of the document, and back."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca.features.vectorizer import SequenceVectorizer, check_vocabulary
from skcrf_sdca.persistence._entries import check_vectorizer
from skcrf_sdca.persistence._values import plain_parameters, with_parameters


def describe_vectorizer(vectorizer):
    """Return the entries of a fitted SequenceVectorizer, and no arrays."""
    check_is_fitted(vectorizer)
    check_vocabulary(vectorizer, complete=True)
    vectorizer._validate_params()
    parameters = vectorizer.get_params()
    parameters["dtype"] = np.dtype(parameters["dtype"]).name
    model = {
        "type": "SequenceVectorizer",
        "parameters": plain_parameters(parameters),
        "input_format": vectorizer.input_format_,
        "n_features": int(vectorizer.n_features_out_),
        "vocabulary": vectorizer.vocabulary_,
    }
    return model, {}


def rebuild_vectorizer(model, array):
    """Return the SequenceVectorizer that entries describe."""
    check_vectorizer(model)
    vectorizer = with_parameters(SequenceVectorizer, model["parameters"])
    vectorizer.vocabulary_ = model["vocabulary"]
    vectorizer.n_features_out_ = model["n_features"]
    vectorizer.input_format_ = model["input_format"]
    return vectorizer
