"""SegmentAnswers: what a fitted SegmentCRF says of segments, and tables of its weights.

The answers of single labels are those of `PredictionMixin`.
"""

from collections.abc import Iterable
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.typing import Dataset, SpanScheme, Transitions
from skcrf_sdca.data.label_encoding import label_objects, plain_labels
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.data.spans import SpanForm, span_rows
from skcrf_sdca.data.tagging_schemes import get_scheme
from skcrf_sdca.estimators.compression import ConstrainingMixin
from skcrf_sdca.estimators.contrast import segment_terms
from skcrf_sdca.estimators.fitted import check_form, no_probabilities
from skcrf_sdca.estimators.inspection import InspectionMixin, weight_table
from skcrf_sdca.estimators.prediction import PredictionMixin
from skcrf_sdca.estimators.span_queries import checked_tokens
from skcrf_sdca.estimators.tables import Table
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.structures.chain.constraints import read_constraints
from skcrf_sdca.structures.segment.grammar import Grammar


def _read_span(span):
    span_type, begin, end, *_ = span
    return index(begin), index(end), span_type


TYPED = SpanForm("(type, begin, end)", _read_span)


class SegmentAnswers(PredictionMixin, InspectionMixin, ConstrainingMixin):
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
        """Return the Grammar of the fitted model, without what has a score of -inf."""
        names = plain_labels(self.classes_)
        grammar = Grammar(names, self.scheme_, self.max_length_)
        grammar.transition &= self.transition_ != -np.inf
        return grammar

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        rows = getattr(packed.data, "segment_rows", None)
        return segment_terms(self, self._grammar(), rows, paths)

    def constrain(self, transitions: Transitions) -> Self:
        """Forbid transitions between segments in a fitted model.

        The segmentations that are left keep their odds. A later `fit` allows what the
        scheme does.

        Parameters
        ----------
        transitions : ndarray or list of pairs
            The transitions that stay allowed: a mask of bool of shape (n_types,
            n_types), [from, to] in the order of ``types_``, or pairs (from, to) of
            types. What was forbidden before stays so.

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

    def transition_features(self) -> Table:
        """Return all weights of transitions between segments that are not 0.

        Returns
        -------
        table : Table
            With the columns label_from, label_to, which are types of segments, and
            weight, the largest first. Forbidden transitions are left out.

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> X, y = [[["a"], ["b"], ["c"]]] * 9, [["B-X", "I-X", "O"]] * 9
        >>> crf = SegmentCRF(solver="lbfgs", tol=1e-9).fit(X, y)
        >>> crf.transition_features()["label_from"].tolist()[0]
        'X'
        """
        self._check_is_fitted()
        types = label_objects(self.types_)
        return weight_table(self.transition_, label_from=types, label_to=types)

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

    @available_if(no_probabilities)
    def predict_spans(
        self,
        X: Dataset,
        *,
        scheme: SpanScheme | None = None,
        tokens: Iterable[Iterable[str]] | None = None,
    ) -> NDArray[Any]:
        """Return the spans of the most probable segmentations, with probabilities.

        Parameters
        ----------
        X : as in `fit`
        scheme : None
            The scheme is that of the fit; for the signature of the other estimators.
        tokens : list of n lists of T str, default=None
            The words of X. With them, each span has a text.

        Returns
        -------
        spans : ndarray of shape (n,)
            An object array of lists of (type, begin, end, probability), in order; with
            `tokens` of (type, begin, end, probability, text). Without a scheme all
            segments are spans. The probability is that of the segment, exactly.

        Raises
        ------
        ValueError, TypeError
            If `scheme` is another one, or `tokens` does not have the lengths of X.

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> X = [[["Ada"], ["Lovelace"], ["wrote"]]] * 9
        >>> y = [["B-PER", "I-PER", "O"]] * 9
        >>> crf = SegmentCRF(random_state=0).fit(X, y)
        >>> ((span_type, begin, end, probability),) = crf.predict_spans(X)[0]
        >>> span_type, begin, end, probability > 0.5
        ('PER', 0, 2, True)
        """
        packed = self._packed(X)
        self._check_scheme(scheme)
        grammar = self._grammar()
        words = None if tokens is None else checked_tokens(tokens, packed.data.lengths)

        def spans(scores, first, last):
            offsets = scores.offsets
            begin, end, own, _ = grammar.segments(scores.viterbi()[0], offsets)
            chosen = own != grammar.outside
            begin, end, own = begin[chosen], end[chosen], own[chosen].astype(np.int64)
            i = np.searchsorted(offsets, begin, side="right") - 1
            rows = np.column_stack([i, begin - offsets[i], end - offsets[i]])
            values = scores.segment_probabilities(rows, own)
            types = [grammar.types[k] for k in own]
            bounds = rows[:, 1].tolist(), rows[:, 2].tolist()
            found = list(zip(types, *bounds, values.tolist(), strict=True))
            if words is not None:
                texts = [words[first + j][b:e] for j, b, e in rows.tolist()]
                found = [(*s, " ".join(t)) for s, t in zip(found, texts, strict=True)]
            return split_rows(found, np.searchsorted(begin, offsets))

        return self._over(spans, packed)

    @available_if(no_probabilities)
    def span_proba(
        self,
        X: Dataset,
        spans: Iterable[Iterable[tuple[Any, ...]]],
        *,
        scheme: SpanScheme | None = None,
    ) -> NDArray[Any]:
        """Return the probability of spans, each the sum over all its segmentations.

        Parameters
        ----------
        X : as in `fit`
        spans : list of n lists of (type, begin, end)
            As `predict_spans` returns them; what follows these three is ignored.
        scheme : None
            The scheme is that of the fit; for the signature of the other estimators.

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (n_spans_i,). 0 for a type that was not
            in `fit`, and for a span longer than ``max_length_``.

        Raises
        ------
        ValueError, TypeError
            If a span does not have this form or is not within its sequence, or `scheme`
            is another one.

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> X, y = [[["a"], ["b"]]] * 9, [["B-X", "I-X"]] * 9
        >>> crf = SegmentCRF(random_state=0).fit(X, y)
        >>> (proba,) = crf.span_proba(X[:1], [[("X", 0, 2), ("X", 0, 1), ("Y", 0, 1)]])
        >>> bool(proba[0] > 0.5), float(proba[2])
        (True, 0.0)
        """
        packed = self._packed(X)
        self._check_scheme(scheme)
        rows, bounds, names = span_rows(spans, packed.data.lengths, TYPED)
        types = self._grammar().type_numbers(names)

        def values(scores, first, last):
            begin, end = bounds[[first, last]]
            own = scores.segment_probabilities(
                rows[begin:end] - [first, 0, 0], types[begin:end]
            )
            return split_rows(own, bounds[first : last + 1] - begin)

        return self._over(values, packed)

    def _check_scheme(self, scheme):
        """Raise ValueError for a scheme that is not that of the fit."""
        own = self.scheme_
        # A scheme may have two names.
        if scheme is None or (
            own is not None and get_scheme(scheme) == get_scheme(own)
        ):
            return
        raise ValueError(
            f"scheme={scheme!r}, but the model was fitted with scheme={own!r}; set "
            "scheme=None"
        )

    def _check_is_fitted(self):
        """Raise NotFittedError, or ValueError if attributes do not agree."""
        check_is_fitted(self)
        check_form(self)
