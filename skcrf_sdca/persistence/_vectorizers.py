"""Converts vectorizers to entries of the document, and back."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._kernels.features._encoder import Lookup
from skcrf_sdca.features.vectorizer import SequenceVectorizer, check_vocabulary
from skcrf_sdca.features.vocabulary import packed_lookup
from skcrf_sdca.persistence._entries import NAMES, check_vectorizer, lookup_from
from skcrf_sdca.persistence._values import plain_parameters, with_parameters


def describe_vectorizer(vectorizer, name=NAMES):
    """Return the entries of a fitted SequenceVectorizer, and its array of this name."""
    check_is_fitted(vectorizer)
    check_vocabulary(vectorizer, complete=True)
    vectorizer._validate_params()
    parameters = vectorizer.get_params()
    parameters["dtype"] = np.dtype(parameters["dtype"]).name
    # Whoever assigned or changed the dicts means them.
    units, sizes = packed_lookup(Lookup(vectorizer.vocabulary_))
    model = {
        "type": "SequenceVectorizer",
        "parameters": plain_parameters(parameters),
        "input_format": vectorizer.input_format_,
        "n_features": int(vectorizer.n_features_out_),
        "vocabulary": sizes,
    }
    return model, {name: units}


def rebuild_vectorizer(model, array, name=NAMES):
    """Return the SequenceVectorizer that entries and the array `name` describe."""
    check_vectorizer(model)
    vectorizer = with_parameters(SequenceVectorizer, model["parameters"])
    vectorizer.vocabulary_ = lookup_from(model, array, name)
    vectorizer.n_features_out_ = model["n_features"]
    vectorizer.input_format_ = model["input_format"]
    return vectorizer
