"""Relations of the arcs of a known tree, learned by the steps that learned the tree."""

import copy

import numpy as np

from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.heads import split_labels
from skcrf_sdca.data.label_encoding import encode_labels, plain_labels
from skcrf_sdca.estimators.online import PassiveAggressiveCRF
from skcrf_sdca.text.features.relation_features import N_FEATURES

# Parameters that mean the same for relations as for trees.
SHARED = "C loss max_iter tol average shuffle warm_start n_jobs random_state".split()


def read_relations(y, n_words):
    """Return the heads of sentences, and the relations of all words end to end.

    y is pairs (heads, relations); the errors are those of `OnlineDependencyCRF.fit`.
    """
    heads, relations = split_labels(y, n_words, labelled=True)
    with in_words(sequence="sentence", item="word", position="word"):
        classes, codes = encode_labels(relations, n_words)
    return heads, classes[codes]


def learned_relations(parser, method, rows, relations):
    """Return the fitted classifier of relations; the one of the parser is unchanged.

    Parameters
    ----------
    parser : OnlineDependencyCRF
    method : {"fit", "partial_fit"}
    rows : csr_array of shape (n_tokens, n_features)
    relations : ndarray of shape (n_tokens,)

    Returns
    -------
    classifier : PassiveAggressiveCRF
        Its sequences are single words.
    """
    own = vars(parser).get("relations_")
    classifier = PassiveAggressiveCRF() if own is None else copy.deepcopy(own)
    classifier.set_params(**{name: getattr(parser, name) for name in SHARED})
    # A stream may bring relations that were not seen before.
    new = {"classes": np.unique(relations)} if method == "partial_fit" else {}
    return getattr(classifier, method)(rows, relations, **new)


def check_relations(classifier):
    """Raise ValueError if it is no fitted classifier of relations."""
    if classifier is None:
        raise ValueError(
            "labelled=True, but the model was fitted with labelled=False: fit it "
            "again, or set labelled=False."
        )
    n_features = getattr(classifier, "n_features_in_", None)
    if not isinstance(classifier, PassiveAggressiveCRF) or n_features != N_FEATURES:
        raise ValueError(
            f"relations_ must be a PassiveAggressiveCRF of {N_FEATURES} features."
        )


def labelled_trees(classifier, arcs, heads):
    """Return pairs (heads, relations), an object array, of heads end to end."""
    names = []
    # A table has a row; sentences may have no word.
    if len(heads):
        names = plain_labels(classifier.predict(arcs.relation_rows(heads)))
    parts = (split_rows(own, arcs.word_offsets) for own in (heads.tolist(), names))
    return np.fromiter(zip(*parts, strict=True), dtype=object, count=len(arcs))


def right_words(found, heads, relations):
    """Return of each word whether both its head and its relation are right.

    ``found`` are pairs (heads, relations), and the relations of y lie end to end.
    """
    nothing = np.zeros(0, dtype=bool)
    right = [own == tree[0] for own, tree in zip(heads, found, strict=True)]
    names = [name for _, own in found for name in own]
    return np.concatenate([nothing, *right]) & (np.array(names, object) == relations)
