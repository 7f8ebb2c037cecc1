"""Why a label: the terms of one sequence, and its features that are not known."""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np

from skcrf_sdca._kernels.features._encoder import Lookup
from skcrf_sdca.data.heads import checked_word
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.model.explanation import (
    Explanation,
    checked_place,
    codes_of,
    codes_of_path,
    explanation_of,
    explanation_of_heads,
)
from skcrf_sdca.serving._items import encoded, held
from skcrf_sdca.serving._rows import CsrRows
from skcrf_sdca.structures.dependency.tree_terms import tree_terms
from skcrf_sdca.structures.mixed_scores import with_entropy
from skcrf_sdca.structures.path_terms import BIASES, LabelTerms, path_terms
from skcrf_sdca.structures.rivals import Rivals


class ExplanationMixin:
    """Explanations of the labels of one sequence, and counts of unknown features.

    A class adds `_prepared`, which makes the features of tokens, and `_path`.
    """

    _model: Any
    _served: Any
    _prepared: Callable[..., Any]
    _path: Callable[..., Any]

    def explain(
        self,
        sequence: Iterable[Any],
        position: int,
        *,
        labels: Iterable[Hashable] | None = None,
        reference: Hashable | None = None,
        path: Iterable[Hashable] | None = None,
    ) -> Explanation:
        """Return what features and neighbours contribute to the labels of a position.

        Parameters
        ----------
        sequence : as for `predict_one`
        position : int
            Negative numbers count from the end. Of a parser it is the number of a word,
            counted from 1.
        labels, reference, path : default=None
            As for `SDCACRF.explain`, and for `DependencyCRF.explain`, whose labels are
            heads, and which takes no path.

        Returns
        -------
        explanation : Explanation
            As by ``explain`` of the estimator: with the same terms in the same order.

        Raises
        ------
        IndexError
            If the sequence has no such position.
        TypeError, ValueError
            As `predict_one`, and as ``explain`` of the estimator. Also for an
            `OnlineDependencyCRF`, whose estimator has no ``explain``.

        Examples
        --------
        >>> from skcrf_sdca import LBFGSCRF
        >>> from skcrf_sdca.serving import Predictor
        >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
        >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
        >>> Predictor.from_estimator(crf).explain([["w=the"], ["w=dogs"]], 1)
        Position 1: NOUN (probability 0.845) against DET (probability 0.155)
        <BLANKLINE>
                     value    NOUN
        probability          0.845
        score               +1.896
        <end>            1  +0.769
        <after DET>      1  +0.483
        w=dogs           1  +0.433
        <intercept>      1  +0.211
        """
        own = ExplanationMixin._explained_label
        explained = EXPLAINED_BY.get(self._model.structure, own)
        asked = {"labels": labels, "reference": reference, "path": path}
        return explained(self, held(self._prepared(sequence)), position, **asked)

    def _explained_label(self, sequence, position, *, labels, reference, path):
        model = self._model
        scores = with_entropy(self._served.scores(sequence), model.entropy_index)
        n_positions = int(scores.offsets[-1])
        t = checked_place(position, n_positions, "position")
        if labels is not None:
            labels = codes_of(labels, "labels", model.classes)
        if reference is not None:
            (reference,) = codes_of([reference], "reference", model.classes)
        if path is None:
            path = self._path(scores)
        else:
            path = codes_of_path(path, n_positions, model.classes)
        best = partial(scores.best_with_labels, t)
        rivals = Rivals(path, best, plain_labels(model.classes), position=t, first=0)
        probabilities = None
        if model.temperature > 0.0:
            probabilities = scores.node_marginals()[0][t]
        terms_of = partial(_terms_of, model, self._served, sequence, t)
        return explanation_of(
            rivals, terms_of, probabilities, labels=labels, reference=reference
        )

    def _explained_head(self, sentence, word, *, labels, reference, path):
        if path is not None:
            raise ValueError("path: the heads of a word are explained without one")
        model = self._model
        scores = with_entropy(self._served.scores(sentence), model.entropy_index)
        n = int(scores.n_words[0])
        word, marginals = checked_word(word, n, "position"), None
        # The sentence has a tree.
        self._path(scores)
        if model.temperature > 0.0:
            marginals, _ = scores.node_marginals()

        def terms_of(trees):
            weighted = partial(_features_at, model, self._served, sentence)
            return tree_terms(
                trees, weighted, model.of_labels["intercept"], scores.rules
            )

        tree_with = partial(scores.best_with_heads, word)
        asked = {"labels": labels, "reference": reference}
        return explanation_of_heads(word, n, tree_with, terms_of, marginals, **asked)

    def _not_explained(self, *_, **asked):
        raise ValueError(
            "explain: an OnlineDependencyCRF has dependency trees, and no "
            "explanations; a DependencyCRF has some"
        )

    def unknown_features(self, sequence: Iterable[Any]) -> tuple[int, int]:
        """Return how many features of one sequence the model does not know.

        A service can see from them whether its input is still like the training data.

        Parameters
        ----------
        sequence : as for `predict_one`

        Returns
        -------
        n_unknown, n_features : int
            The features that are not in the vocabulary, and all. They are counted at
            each position, as `skcrf_sdca.inspection.drift_report` counts them: its
            share is the sum of the first over the sum of the second.

        Raises
        ------
        TypeError, ValueError
            As `predict_one`, and ValueError if the model has no vocabulary.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]] * 9, [["B", "I"]] * 9)
        >>> Predictor.from_estimator(crf).unknown_features([["a", "new"], ["b"]])
        (1, 3)
        """
        items = self._model.items
        if items is None or items.lookup is None:
            raise ValueError(
                "the model has no vocabulary, and takes all features: none is unknown"
            )
        sequence = held(self._prepared(sequence))
        sequence = self._served.items_of(sequence)
        known, _, _ = encoded(items, sequence)
        of_all, _, _ = encoded(items, sequence, Lookup.empty())
        return len(of_all) - len(known), len(of_all)


def _features_at(model, served, sentence, places):
    """Yield the features of arcs and siblings as `tree_terms` takes them."""
    rows, numbers = served.rows_at(sentence, places)
    names = model.names_of(rows)
    for i in numbers:
        features, values = entries_at(rows, i)
        own = [names[j] for j in features.tolist()]
        yield own, values, model.coef.rows(features)


# What explains a model, by its structure; others have labels.
EXPLAINED_BY = {
    "trees": ExplanationMixin._explained_head,
    "parser": ExplanationMixin._not_explained,
}


def _terms_of(model, served, sequence, t, paths):
    """Return the Terms of paths of one sequence."""
    rows, places = served.rows_of(sequence), {"position": t, "first": 0}
    names = model.names_of(rows)
    own = LabelTerms(
        partial(_feature_terms, served.of_labels, rows, names, model.coef),
        partial(_biases, model, served),
    )
    of_pairs = partial(_feature_terms, served.of_pairs, rows, names)
    joint = partial(served.joint_terms, sequence, of_pairs, paths, **places)
    return path_terms(own, paths, joint, **places)


def _feature_terms(of_labels, rows, names, coef, s, labels):
    """Yield the terms of the features at a position, as `LabelTerms` has them."""
    features, values = entries_at(rows, s)
    scores = of_labels(coef.rows(features).T, labels) * values
    named = (names[j] for j in features.tolist())
    yield from zip(named, values.tolist(), scores.T, strict=True)


def entries_at(rows, s):
    """Return the features that are not zero at a position, and their values."""
    if isinstance(rows, CsrRows):
        own = slice(*rows.indptr[s : s + 2].tolist())
        return rows.indices[own], rows.data[own]
    (features,) = np.nonzero(rows[s])
    return features, rows[s, features]


def _biases(model, served, labels):
    """Return the scores of weights without a feature, as `LabelTerms` has them."""
    weights = {name: model.of_labels.get(a.rstrip("_")) for name, a in BIASES.items()}
    return {
        name: served.of_labels(own, labels)
        for name, own in weights.items()
        if own is not None
    }
