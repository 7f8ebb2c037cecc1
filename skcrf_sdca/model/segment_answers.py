"""SegmentAnswers: what a fitted SegmentCRF says of segments, and tables of its weights.

`ChainAnswers` has the answers of single labels.
"""

from functools import partial
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
from skcrf_sdca.structures.path_terms import segment_terms
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
        rows, of_segment = getattr(packed.data, "segment_rows", None), None
        if rows is not None:
            of_segment = partial(self._terms_of_segment, rows)
        blocks = self.transition_, self.length_
        return segment_terms(self._grammar(), *blocks, of_segment, paths)

    def _terms_of_segment(self, rows, begin, end, types):
        """Yield the terms of the features of a segment, as `segment_terms` takes."""
        names = self.segment_vectorizer_.get_feature_names_out()
        _, features, values = rows.entries_of(np.array([begin]), np.array([end]))
        for f, value in zip(features, values.tolist(), strict=True):
            yield names[f], value, value * self.segment_coef_[types, f]

    def constrain(self, transitions: Transitions) -> Self:
        """Forbid transitions between segments in a fitted model.

        The allowed segmentations keep the ratios of their probabilities. A later `fit`
        allows what the scheme does.

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
