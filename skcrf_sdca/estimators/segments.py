"""SegmentCRF: semi-Markov conditional random fields, which label spans as a whole."""

from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca._utils.typing import Labels, Sequences
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.data.segments import SegmentedSequences, with_segments
from skcrf_sdca.estimators.parameters import SegmentOptions, parameters
from skcrf_sdca.estimators.sequences import BaseCRF
from skcrf_sdca.estimators.solver_choice import SolverByName
from skcrf_sdca.features.vectorizer import SequenceVectorizer, copied, grow
from skcrf_sdca.model.fitted import fitted_weights
from skcrf_sdca.model.segment_answers import SegmentAnswers
from skcrf_sdca.structures.form import Axis
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.parameters import SegmentParameters, segment_blocks
from skcrf_sdca.structures.segment.scores import check_possible

# Of a larger `max_length` only lengths that a sequence of the fit can have are kept.
LENGTHS_KEPT = 1000


@parameters(max_iter=1000)
class SegmentCRF(SegmentOptions, SegmentAnswers, SolverByName, BaseCRF):
    """Semi-Markov conditional random field: a model of spans and their lengths [1]_.

    A sequence is cut into segments, without gaps: each span is a segment of its type,
    and each item outside of spans is one of the type "O". With K types of segments, the
    segments (b_s, e_s, k_s) of the items b_s <= t < e_s have the score::

        score(x, y) = sum_t (coef[y_t] . x_t + intercept[y_t])
                      + start[y_0] + end[y_{T-1}]
                      + sum_s length[k_s, e_s - b_s] + sum_s transition[k_{s-1}, k_s]
                      + sum_s segment_coef[k_s] . g(x, b_s, e_s)

    where y_t is the label that the scheme gives to item t of its segment, and g are
    features of whole segments that the user defines, see `segment_features`. In "BIO"
    the first item of a span has weights of its own. So the model knows what a chain
    with ``transitions="BIO"`` knows, and how long spans are; its transitions go from
    span to span, however long these are.

    The fit minimises, over all weights w::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i L_i(w),
        L_i(w) = log sum_y exp(score(x_i, y)) - score(x_i, y_i)

    Inference is exact, and takes a time of the order of T K (K + `max_length`); the
    certificate is that of the chain.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels of items, sorted.
    types_ : ndarray of shape (n_types,)
        The types of segments: those of spans, and "O"; without a scheme the labels.
    max_length_ : int
        The largest number of items of a segment.
    scheme_ : str or None
        The scheme of the fit.
    coef_ : ndarray or csr_array of shape (n_labels, n_features_in_)
        Weight of each feature for each label.
    intercept_, start_, end_ : ndarrays of shape (n_labels,)
        Score of each label at every position, at the first and at the last.
    transition_ : ndarray of shape (n_types, n_types)
        Score of a segment after another, [from, to]; -inf where it is forbidden.
    length_ : ndarray of shape (n_types, max_length_)
        Score of a segment of 1, 2, ... items; -inf where it is forbidden, as for "O"
        of more than one.
    segment_coef_ : ndarray of shape (n_types, n_segment_features), or None
        Weight of each feature of a segment for each type; None without
        `segment_features`.
    segment_vectorizer_ : SequenceVectorizer
        Has the names of these features; only with `segment_features`.
    n_features_in_ : int
        Number of features of a position, after vectorizing.
    {solver_}
    {fit_}

    See Also
    --------
    OEGCRF : The chain, whose transitions go from item to item.
    skcrf_sdca.text.convert_labels : Labels of a scheme made those of another.

    Notes
    -----
    A label that y does not have has no weights: with "BIOES" a type that has no label
    "I" in y has no segments of three items or more. `predict_edge_proba` takes a time
    of the order of the square of the length of a sequence.

    The features of all segments of N items in all are in memory during a fit, N times
    `max_length` rows. Take few of them: solvers other than "lbfgs" treat the weights of
    all of them at every visit, and "oeg", "sag" and the hinge keep one number for each
    sequence, type and feature. ``save_model`` does not keep the function: after
    ``load_model`` call ``set_params(segment_features=...)``.

    References
    ----------
    .. [1] Sarawagi, Cohen, "Semi-Markov conditional random fields for information
       extraction", NIPS 2004.

    Examples
    --------
    >>> from skcrf_sdca import SegmentCRF
    >>> words = [["Ada", "Lovelace", "met", "Babbage"], ["Babbage", "met", "her"]]
    >>> X = [[[word] for word in sentence] for sentence in words]
    >>> y = [["B-PER", "I-PER", "O", "B-PER"], ["B-PER", "O", "O"]]
    >>> crf = SegmentCRF(alpha=0.01, random_state=0).fit(X, y)
    >>> crf.predict(X[:1])[0]
    ['B-PER', 'I-PER', 'O', 'B-PER']
    >>> crf.types_.tolist(), crf.max_length_, crf.length_.shape
    (['PER', 'O'], 2, (2, 2))
    """

    solver_: str = field(init=False)

    _dual = "oeg"
    _structure = "segments"
    _data_words = "features of segments"

    @fits
    def fit(
        self,
        X: Sequences,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        *,
        X_val: Sequences | Callable[[], Sequences] | None = None,
        y_val: Labels | None = None,
        init: "SegmentCRF | None" = None,
        prior: "SegmentCRF | None" = None,
    ) -> Self:
        """Fit the model to labelled sequences.

        Parameters
        ----------
        X : list, tuple, object array or generator of n sequences, or PackedSequences
            In all the forms that `SDCACRF.fit` takes.
        y : list of n lists of T labels, or array-like of shape (n_rows,)
            Labels of the `scheme`; without one any labels. None, `unknown_label`, sets
            of labels and dicts of probabilities stand for labels that are not known, as
            for `SDCACRF.fit`.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence, not negative.
        lengths : array-like of int of shape (n,), default=None
            If X is one table, the number of rows of each sequence in it.
        X_val, y_val : as X and y, default=None
            Held-out data, on which the model of every epoch is scored.
        init : SegmentCRF, default=None
            A fitted model to start from. Features, labels, types and features of
            segments are matched by name, lengths by their number; what `init` does not
            know starts at 0.
        prior : SegmentCRF, default=None
            A fitted model that the weights shall stay near, as for `SDCACRF.fit`: the
            penalty is that of their distance to its weights. The model has the labels
            and features of both, and without `max_length` the larger length.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If X and y do not fit together, a label is not of the scheme or stands where
            the scheme does not allow it, or a segment has more than `max_length` items;
            the message names the sequence and the item. If no segmentation agrees with
            what is known of y, the solver does not take the loss, or `init` or `prior`
            is no fitted SegmentCRF.

        {above_tol}

        Examples
        --------
        >>> from skcrf_sdca import SegmentCRF
        >>> X = [[[0.1], [2.0], [2.1]], [[1.9], [0.2]]]
        >>> y = [["a", "b", "b"], ["b", "a"]]
        >>> crf = SegmentCRF(scheme=None, random_state=0).fit(X, y)
        >>> crf.predict([[[0.0], [2.2]]])[0]
        ['a', 'b']
        """
        given = {"sample_weight": sample_weight, "lengths": lengths}
        return self._fit(X, y, X_val, y_val, init, prior, **given)

    def _takes_tables(self):
        """Return whether the labels of single rows may be any."""
        return self.scheme is None

    def _with_own_training(self, training, prior):
        near = None if prior is None else prior.model
        grammar = self._grammar_of(training, near)
        self._check_segment_features(training.input_format, near)
        data, types = training.data, grammar.types
        own = {
            "types_": np.fromiter(types, dtype=object, count=len(types)),
            "max_length_": grammar.max_length,
            "scheme_": grammar.scheme,
        }
        # `alpha_path` reads the features once for all fits.
        is_read = isinstance(data, SegmentedSequences)
        if self.segment_features is not None and not is_read:
            known = getattr(near, "segment_vectorizer_", None)
            vectorizer, learn = SequenceVectorizer(), SequenceVectorizer.fit_transform
            if known is not None:
                vectorizer, learn = copied(known), grow
            data = with_segments(
                self.segment_features,
                training.X,
                data,
                training.input_format,
                grammar.max_length,
                partial(learn, vectorizer),
            )
            own["segment_vectorizer_"] = vectorizer
        attributes = {**training.attributes, **own}
        return replace(training, constraints=grammar, data=data, attributes=attributes)

    def _pack(self, X, allowed, lengths=None):
        packed = super()._pack(X, allowed, lengths)
        vectorizer = getattr(self, "segment_vectorizer_", None)
        if vectorizer is None or isinstance(packed.data, SegmentedSequences):
            return packed
        if self.segment_features is None:
            raise ValueError(
                f"this {type(self).__name__} has weights of features of segments, but "
                "no function that gives these: files do not hold it. Call "
                "set_params(segment_features=...) with that of the fit."
            )
        data = with_segments(
            self.segment_features,
            packed.X,
            packed.data,
            packed.input_format,
            self.max_length_,
            vectorizer.transform,
        )
        return packed._replace(data=data)

    def _structure_options(self, training):
        rows = getattr(training.data, "segment_rows", None)
        return self._structure, {"segment_rows": rows}

    def _check_segment_features(self, input_format, prior):
        """Raise ValueError if `segment_features` does not fit to X, or to a prior."""
        if self.segment_features is None:
            if prior is not None and prior.segment_coef_ is not None:
                raise ValueError(
                    "prior has weights of features of segments: set segment_features "
                    "to the function that gives these"
                )
        elif not input_format.boundaries:
            raise ValueError(
                "segment_features needs sequences, but X is one table whose rows are "
                "chains of one item: pass lengths, or set segment_features=None"
            )

    def _grammar_of(self, training, prior):
        """Return the Grammar of the training data; ValueError if y breaks it.

        Without `max_length` the largest length is that of y, or that of a prior if this
        is larger.
        """
        names = plain_labels(training.attributes["classes_"])
        learnt = max(training.data.lengths.max(initial=1), LENGTHS_KEPT)
        learnt = max(int(learnt), getattr(prior, "max_length_", 0))
        try:
            grammar = Grammar(names, self.scheme, min(self.max_length or 1, learnt))
        except (TypeError, ValueError) as error:
            raise ValueError(f"y, by scheme={self.scheme!r}: {error}") from error
        labels, offsets = training.labels, training.data.offsets
        rows = training.label_rows
        if rows is None:
            grammar.check(labels, offsets, self.max_length)
        if self.max_length is None:
            longest = grammar.longest_of(labels, offsets)
            longest = max(longest, getattr(prior, "max_length_", 0))
            if not longest:
                raise ValueError(
                    "y has no sequence in which every label is known, to take the "
                    "largest length of a segment from: set max_length"
                )
            grammar = Grammar(names, self.scheme, longest)
        if rows is not None:
            check_possible(grammar, rows, offsets)
        return grammar

    @staticmethod
    def _axes_of(fitted):
        vectorizer = getattr(fitted, "segment_vectorizer_", None)
        names: Any = list
        if vectorizer is not None:
            names = vectorizer.get_feature_names_out
        n_features = 0 if vectorizer is None else vectorizer.n_features_out_
        return BaseCRF._axes_of(fitted) | {
            "type": Axis(len(fitted.types_), fitted.types_.tolist),
            "length": Axis(fitted.max_length_, partial(range, fitted.max_length_)),
            "segment_feature": Axis(n_features, names),
        }

    def _blocks(self):
        return segment_blocks(segment_features=self.segment_coef_ is not None)

    def _allowed_paths(self):
        return self._grammar()

    def _fitted_parameters(self, data):
        rows = getattr(data, "segment_rows", None)
        parameters = SegmentParameters(0, self._grammar(), rows)
        return parameters.for_rows(fitted_weights(self), data.X)
