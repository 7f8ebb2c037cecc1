"""SegmentAnswers: what a fitted SegmentCRF says of segments, and tables of its weights.

`ChainAnswers` has the answers of single labels.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.typing import Transitions
from skcrf_sdca.data.label_encoding import label_objects, plain_labels
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.model.sequence_answers import ChainAnswers
from skcrf_sdca.model.span_queries import SegmentReading
from skcrf_sdca.model.tables import Table, weight_table
from skcrf_sdca.structures.chain.constraints import read_constraints
from skcrf_sdca.structures.segment.grammar import Grammar


class SegmentAnswers(ChainAnswers):
    """Answers of an estimator that has ``types_`` and weights of segments."""

    types_: NDArray[Any]
    max_length_: int
    scheme_: str | None
    transition_: NDArray[np.float64]
    length_: NDArray[np.float64]
    # Weights of features of segments; None if there are none.
    segment_coef_: Any = None
    segment_vectorizer_: SequenceVectorizer

    def _grammar(self):
        """Return the Grammar of the fitted model, without weights of -inf."""
        names = plain_labels(self.classes_)
        grammar = Grammar(names, self.scheme_, self.max_length_)
        grammar.transition &= self.transition_ != -np.inf
        return grammar

    def _tagger(self):
        """Return None: labels do not follow from the transitions between them."""

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        rows = getattr(packed.data, "segment_rows", None)
        return _terms(self, self._grammar(), rows, paths)

    def constrain(self, transitions: Transitions) -> Self:
        """Forbid transitions between segments in a fitted model.

        The segmentations that are left keep their odds. A later `fit` allows what the
        scheme does.

        Parameters
        ----------
        transitions : ndarray or list of pairs
            The transitions that stay allowed: a mask of bool of shape (n_types,
            n_types), [from, to] in the order of ``types_``, or pairs (from, to) of
            types. Forbidden pairs stay forbidden.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If transitions is malformed.

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> X, y = [[["a"], ["b"]]] * 9, [["A", "B"]] * 9
        >>> crf = SegmentCRF(scheme=None, random_state=0).fit(X, y)
        >>> crf.constrain([("B", "A")]).predict([[["a"], ["b"]]])[0]
        ['B', 'A']
        """
        self._check_is_fitted()
        if isinstance(transitions, str) or transitions is None:
            raise ValueError(
                f"transitions={transitions!r}: the segments of a model keep to its own "
                "scheme; give a mask, or pairs of types."
            )
        nowhere = np.empty(0, dtype=int), np.zeros(1, dtype=int)
        found = read_constraints(transitions, self.types_, *nowhere)
        if not (found.start.all() and found.end.all()):
            raise ValueError(
                "transitions has a pair with None: a model of segments has no "
                "transitions at the start and the end."
            )
        self.transition_ = np.where(found.transition, self.transition_, -np.inf)
        return self

    def _values_joined(self):
        return label_objects(self.types_)

    def length_features(self) -> Table:
        """Return all weights of lengths of segments that are not 0, the largest first.

        Returns
        -------
        table : Table
            With the columns type, length and weight.

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> X, y = [[["a"], ["b"], ["c"]]] * 9, [["B-X", "I-X", "O"]] * 9
        >>> crf = SegmentCRF(solver="lbfgs", tol=1e-9).fit(X, y)
        >>> table = crf.length_features()
        >>> table["type"].tolist()[0], table["length"].tolist()[0]
        ('X', 2)
        """
        self._check_is_fitted()
        lengths = np.arange(1, self.max_length_ + 1)
        return weight_table(
            self.length_, type=label_objects(self.types_), length=lengths
        )

    def segment_weights(self) -> Table:
        """Return all weights of features of segments that are not 0, the largest first.

        Returns
        -------
        table : Table
            With the columns type, feature and weight; empty without
            ``segment_features``.

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> def is_long(sequence, begin, end):
        ...     return {"long": end - begin > 1}
        >>> X, y = [[["a"], ["b"], ["c"]]] * 9, [["B-X", "I-X", "O"]] * 9
        >>> crf = SegmentCRF(segment_features=is_long, solver="lbfgs").fit(X, y)
        >>> crf.segment_weights()["feature"].tolist()
        ['long']
        """
        self._check_is_fitted()
        types = label_objects(self.types_)
        if self.segment_coef_ is None:
            coef, names = np.zeros((len(types), 0)), np.zeros(0, dtype=object)
        else:
            names = self.segment_vectorizer_.get_feature_names_out()
            coef = self.segment_coef_
        return weight_table(coef, type=types, feature=names)

    def _reading(self, scheme):
        return SegmentReading.of(self._grammar(), scheme)

    def _asked_spans(self, spans, lengths, scheme):
        return self._reading(scheme).asked(spans, lengths)


def _terms(estimator, grammar, rows, paths):
    """Yield the terms of the segments of paths, and of transitions between these.

    ``rows`` are the SegmentRows of the sequence, or None.
    """
    # The paths that have a segment, with its type, and those with a transition.
    own, between = {}, {}
    for j, path in enumerate(paths):
        begin, end, types, _ = grammar.segments(path, np.array([0, len(path)]))
        places = list(zip(begin.tolist(), end.tolist(), strict=True))
        for s, place in enumerate(places):
            own.setdefault(place, {})[j] = types[s]
            if s > 0:
                pair = estimator.transition_[types[s - 1], types[s]]
                between.setdefault(place[0], {})[j] = pair

    def scores_of(rows, values):
        """Return the scores of all paths: 0 for those without the segment."""
        scores = np.zeros(len(paths))
        scores[list(rows)] = values
        return scores

    if rows is not None:
        names = estimator.segment_vectorizer_.get_feature_names_out()
    for (b, e), found in sorted(own.items()):
        types, name = np.array(list(found.values())), f"<segment {b}-{e - 1}>"
        yield name, 1.0, scores_of(found, estimator.length_[types, e - b - 1])
        if rows is None:
            continue
        _, features, values = rows.entries_of(np.array([b]), np.array([e]))
        for f, value in zip(features, values.tolist(), strict=True):
            coef = estimator.segment_coef_[types, f]
            yield f"{name} {names[f]}", value, scores_of(found, value * coef)
    for b, found in sorted(between.items()):
        scores = scores_of(found, list(found.values()))
        yield f"<transition {b - 1}-{b}>", 1.0, scores
