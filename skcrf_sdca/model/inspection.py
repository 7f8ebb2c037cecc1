"""Inspection: the weights of a fitted estimator, and explanations of its labels.

The names of features come from the vectorizer or the data frame of the fit, or from the
user. The intercept, start and end weights are shown as features with special names.
"""

from collections.abc import Hashable, Iterable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.messages import as_list, lacking
from skcrf_sdca._utils.words import one_alone
from skcrf_sdca.data.containers import holds_sequences
from skcrf_sdca.data.label_encoding import label_objects, plain_labels
from skcrf_sdca.model.answers import Answers
from skcrf_sdca.model.explanation import (
    Explanation,
    checked_place,
    codes_of,
    codes_of_path,
    explanation_of,
)
from skcrf_sdca.model.fitted import (
    ChainModel,
    fitted_format,
    known_names,
    no_probabilities,
)
from skcrf_sdca.model.tables import Table, weight_table
from skcrf_sdca.structures.form import dense_coef, of_labels
from skcrf_sdca.structures.path_terms import (
    BIASES,
    LabelTerms,
    chain_terms,
    path_terms,
    tuple_terms,
)
from skcrf_sdca.structures.rivals import Rivals

# The name of what the last position of all label tuples has.
LABELS = "<labels>"


class Inspection(Answers):
    """The weights of single labels, and explanations, for any structure.

    A structure adds `_joint_terms`.
    """

    def state_features(self, *, feature_names: Iterable[str] | None = None) -> Table:
        """Return all weights of features and labels that are not 0, the largest first.

        ``<intercept>`` stands for a feature of all positions; in chains ``<start>``
        stands for one of the first position and ``<end>`` for one of the last.

        Parameters
        ----------
        feature_names : array-like of str of shape (n_features_in_,), default=None
            Names of the features. By default those seen in `fit`, from dicts, strings,
            data frames, or packed sequences with names; without them x0, x1, ...

        Returns
        -------
        table : Table
            With the columns feature, label, weight; with `label_features` a label is a
            part of labels. ``table[:20]`` are the largest
            weights, ``table[-20:]`` the most negative, and ``table.to_dict()`` is in
            the form of ``state_features_`` of sklearn-crfsuite. Forbidden labels, whose
            weight is -inf, are left out.

        Raises
        ------
        ValueError
            If feature_names has another length.

        Examples
        --------
        >>> from skcrf_sdca import LBFGSCRF
        >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
        >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
        >>> crf.state_features()[:3]
        feature  label  weight
        <end>    NOUN   +0.385
        w=the    DET    +0.279
        w=dogs   NOUN   +0.216
        """
        names = self._weight_names(feature_names)
        return weight_table(
            self._state_weights(),
            feature=names,
            label=label_objects(self._rows_of_coef()),
        )

    def top_features(
        self,
        n: int = 10,
        labels: Iterable[Hashable] | None = None,
        *,
        feature_names: Iterable[str] | None = None,
    ) -> Table:
        """Return the features that speak most for, and most against, each label.

        Parameters
        ----------
        n : int, default=10
            Largest number of positive weights, and of negative weights, of a label.
        labels : list of labels, default=None
            Labels of the table, in this order, or with `label_features` parts of
            labels. By default all.
        feature_names : array-like of str of shape (n_features_in_,), default=None
            As for `state_features`.

        Returns
        -------
        table : Table
            With the columns label, feature, weight; shown label by label.
            ``<intercept>``, ``<start>`` and ``<end>`` are among the features.

        Raises
        ------
        ValueError
            If n is less than 1, a label was not seen in `fit`, or feature_names has
            another length.

        Examples
        --------
        >>> from skcrf_sdca import LBFGSCRF
        >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
        >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
        >>> crf.top_features(1)
        DET
        feature  weight
        w=the    +0.279
        <end>    -0.385
        <BLANKLINE>
        NOUN
        feature  weight
        <end>    +0.385
        w=the    -0.279
        """
        names = self._weight_names(feature_names)
        check_scalar(n, "n", Integral, min_val=1)
        rows_of_coef = self._rows_of_coef()
        labels = rows_of_coef if labels is None else labels
        codes = self._codes(labels, "labels", rows_of_coef)
        weights = self._state_weights()
        columns = [dense_coef(weights[:, [k]])[:, 0] for k in codes]
        rows = [_extremes(column, n) for column in columns]
        label_codes = np.repeat(codes, [len(r) for r in rows])
        return Table(
            {
                "label": label_objects(rows_of_coef)[label_codes],
                "feature": names[np.concatenate(rows)],
                "weight": np.concatenate(
                    [column[r] for column, r in zip(columns, rows, strict=True)]
                ),
            },
            group="label",
            max_rows=None,
        )

    def _label_values(self):
        """Return the labels as a column of a table holds them."""
        return label_objects(self.classes_)

    def _rows_of_coef(self):
        """Return what has the rows of ``coef_``: the labels, or their parts."""
        return self.classes_ if self.parts_ is None else self.parts_

    def _codes(self, labels, name, classes=None):
        """Return the numbers of labels that were seen in fit, or of parts of these."""
        return codes_of(labels, name, self.classes_ if classes is None else classes)

    def _weight_names(self, feature_names):
        """Return the names of the rows of `_state_weights`."""
        self._check_is_fitted()
        d = self.n_features_in_
        if feature_names is None:
            feature_names = known_names(self)
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(d)]
        feature_names = as_list(feature_names, "feature_names", "names")
        if len(feature_names) != d:
            raise ValueError(
                f"feature_names has {len(feature_names)} names, but "
                f"{type(self).__name__} was fitted on {d} features."
            )
        return np.array([*feature_names, *bias_weights(self)], dtype=object)

    def _state_weights(self):
        """Return the weights of all features, and those without one by labels."""
        blocks = [self.coef_.T, np.vstack(list(bias_weights(self).values()))]
        if sp.issparse(self.coef_):
            return sp.vstack(blocks, format="csr")
        return np.vstack(blocks)

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        """Yield the terms of several labels where paths differ, see `path_terms`."""
        raise lacking(self, "_joint_terms")

    def _explain(self, packed, t, *, labels, reference, path, feature_names):
        """Return the Explanation of position t of packed data.

        A row of a table is a sequence of its own.
        """
        names = self._weight_names(feature_names)
        labels = None if labels is None else self._codes(labels, "labels")
        if reference is not None:
            (reference,) = self._codes([reference], "reference")
        data = packed.data
        if path is not None:
            path = codes_of_path(path, data.n_positions, self.classes_)
        i = int(np.searchsorted(data.offsets, t, side="right")) - 1
        first, last = data.offsets[i : i + 2].tolist()
        if len(data) > 1:
            packed = packed._replace(data=data[i : i + 1])
        rivals = Rivals(
            self._predicted_paths(packed) if path is None else path[first:last],
            partial(self._best_path_with, packed, t - first),
            plain_labels(self.classes_),
            position=t,
            first=first,
        )

        def terms_of(paths):
            places = {"position": t, "first": first}
            joint = partial(self._joint_terms, packed, paths, names, **places)
            biases = partial(_biases, self)
            features = partial(_feature_terms, self, packed.data.X, names)
            return path_terms(LabelTerms(features, biases), paths, joint, **places)

        probabilities = None
        if no_probabilities(self) is None:
            rows = self._over(lambda scores, *_: scores.node_marginals()[0], packed)
            probabilities = rows[t - first]
        asked = {"labels": labels, "reference": reference}
        return explanation_of(rivals, terms_of, probabilities, **asked)

    def _best_path_with(self, packed, t, labels):
        """Return the best path with one of the labels at t, empty if there is none."""
        return self._over(
            lambda scores, *_: scores.best_with_labels(t, labels), packed, proba=False
        )


class SequenceInspection(Inspection):
    """Inspection of sequences, of any structure."""

    def explain(
        self,
        sequence: Any,
        position: int,
        *,
        labels: Iterable[Hashable] | None = None,
        reference: Hashable | None = None,
        path: Iterable[Hashable] | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Explanation:
        """Return what features and neighbours contribute to the labels of a position.

        For every label k it explains the number ::

            score(path of k) - score(path of reference)

        where the path of the label y_t is the predicted path y, and the path of any
        other label k is the best of all paths with y_t = k. These may differ at
        positions near t too: an entity of two words is compared with another entity, or
        with none. The terms are those in which the paths differ, at t and at each other
        such position: the intercept, the start (t = 0) and the end (t = T - 1), each
        feature that is not zero, x_tj * (coef_[k, j] - coef_[reference, j]), and the
        transitions from the label before and to the label after. In a `SegmentCRF`
        these go from segment to segment, and ``<segment b-t>`` is the length, or a
        feature, of the segment of the items b to t.

        Parameters
        ----------
        sequence : one sequence as in `fit`, or PackedSequences of one
            For one-node chains a table; its rows are the positions, and have no
            neighbours.
        position : int
            The position t. Negative numbers count from the end.
        labels : list of labels, default=None
            Labels k to explain; each takes a Viterbi search. By default y_t and the
            reference, or the best other label if y_t is the reference.
        reference : label, default=None
            The label that the others are compared with. By default that at t of the
            best of all paths that do not have y_t there.
        path : list of T labels, default=None
            The labels y, by default the predicted path. The best paths with other
            labels do not follow y, but differ from it wherever it is not the best.
        feature_names : array-like of str of shape (n_features_in_,), default=None
            As for `state_features`.

        Returns
        -------
        explanation : Explanation
            The contributions with their sums, the paths, and the marginal probabilities
            of the labels at t, as in `predict_proba`; without these after a fit with
            the hinge loss. If no path has another label at t, there are no terms, and
            the reference is None.

        Raises
        ------
        IndexError
            If the sequence has no such position.
        ValueError
            If there is not one sequence, a label was not seen in `fit`, forbidden
            transitions leave no path with one of `labels` or with the reference at t,
            path does not have T labels, path is forbidden and its label the reference,
            or feature_names has another length.
        TypeError
            If the sequence has another input format than in `fit`.

        Examples
        --------
        >>> from skcrf_sdca import LBFGSCRF
        >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
        >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
        >>> crf.explain([["w=the"], ["w=dogs"]], 1)
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
        check_is_fitted(self)
        with one_alone("sequence", holds_sequences(sequence, depth=2)):
            packed = self._packed(fitted_format(self).as_chain(sequence))
        return self._explain(
            packed,
            checked_place(position, packed.data.n_positions, "position"),
            labels=labels,
            reference=reference,
            path=path,
            feature_names=feature_names,
        )


class ChainInspection(SequenceInspection, ChainModel):
    """Inspection of chains, with tables of the weights of several labels."""

    def transition_features(self) -> Table:
        """Return all weights of transitions that are not zero, the largest first.

        Returns
        -------
        table : Table
            With the columns label_from, label_to, weight, as from `state_features`;
            ``table.to_dict()`` is in the form of ``transition_features_`` of
            sklearn-crfsuite. Of a `SegmentCRF` they are between types of segments.
            Forbidden transitions are left out.

        Examples
        --------
        >>> from skcrf_sdca import LBFGSCRF
        >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
        >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
        >>> crf.transition_features()
        label_from  label_to  weight
        DET         NOUN      +0.381
        NOUN        DET       -0.066
        DET         DET       -0.102
        NOUN        NOUN      -0.213
        """
        self._check_is_fitted()
        labels = self._values_joined()
        return weight_table(self.transition_, label_from=labels, label_to=labels)

    def _values_joined(self):
        """Return what transitions go from and to, as a column of a table."""
        return self._label_values()

    def tuple_features(self, *, feature_names: Iterable[str] | None = None) -> Table:
        """Return all weights of tuples of labels that are not zero, the largest first.

        They are the weights of three labels in a row and more, with the parameter
        ``order``, and of a feature and two labels, with ``edge_features``.

        Parameters
        ----------
        feature_names : array-like of str of shape (n_features_in_,), default=None
            As for `state_features`.

        Returns
        -------
        table : Table
            With the columns feature, labels, a tuple, and weight. ``<labels>`` stands
            for a feature that the last position of every such tuple has.

        Raises
        ------
        ValueError
            If feature_names has another length.

        Examples
        --------
        >>> from skcrf_sdca import LBFGSCRF
        >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
        >>> crf = LBFGSCRF(edge_features=["w=c*"], tol=1e-10)
        >>> crf.fit(X, [["DET", "NOUN"], ["NOUN"]]).tuple_features()[:2]
        feature  labels           weight
        w=cat    ('DET', 'NOUN')  +0.327
        w=cat    ('NOUN', 'DET')  -0.064
        """
        names = self._weight_names(feature_names)
        labels: list[Any] = []
        features: list[str] = []
        values: list[Any] = []
        for weights in self.higher_transitions_:
            places = np.nonzero(weights)
            labels += zip(*places, strict=True)
            features += len(places[0]) * [LABELS]
            values.append(weights[places])
        if self.edge_coef_ is not None:
            weights = self.edge_coef_.tocoo()
            pairs, numbers = weights.coords
            labels += zip(*divmod(pairs, len(self.classes_)), strict=True)
            features += names[numbers].tolist()
            values.append(weights.data)
        flat = np.concatenate([np.zeros(0), *values])
        order = np.argsort(-flat, kind="stable")
        order = order[flat[order] != 0.0]
        own = self._label_values()
        tuples = (tuple(own[list(labels[i])]) for i in order)
        return Table(
            {
                "feature": np.array([features[i] for i in order], dtype=object),
                "labels": np.fromiter(tuples, dtype=object, count=len(order)),
                "weight": flat[order],
            }
        )

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        places = {"position": position, "first": first}
        classes, of_pairs = self.classes_, None
        yield from chain_terms(self.transition_, classes, paths, differs, **places)
        if self.edge_coef_ is not None:
            of_pairs = partial(_terms_of_pairs, self, packed.data.X, names)
        yield from tuple_terms(self.higher_transitions_, of_pairs, paths, differs)


def bias_weights(model: Any) -> dict[str, NDArray[np.float64]]:
    """Return the weights of labels without a feature, by the names in `BIASES`."""
    return {name: getattr(model, a) for name, a in BIASES.items() if hasattr(model, a)}


def _biases(estimator, labels):
    """Return the scores of weights without a feature, as `LabelTerms` has them."""
    parts = estimator.label_features_
    weights = bias_weights(estimator)
    return {name: of_labels(own, labels, parts) for name, own in weights.items()}


def _feature_terms(estimator, X, names, s, labels):
    """Yield the terms of the features at a position, as `LabelTerms` has them."""
    row = sp.coo_array(X[[s]])
    features = row.coords[1]
    coef = dense_coef(estimator.coef_[:, features])
    coef = of_labels(coef, labels, estimator.label_features_)
    scores = (coef * row.data).T
    yield from zip(names[features], row.data.tolist(), scores, strict=True)


def _terms_of_pairs(estimator, X, names, s, labels):
    """Yield the terms of the features of pairs of labels, as `tuple_terms` takes."""
    row = sp.coo_array(X[[s]])
    features = row.coords[1]
    pairs = labels[:, 0] * len(estimator.classes_) + labels[:, 1]
    coef = estimator.edge_coef_[:, features][pairs].toarray() * row.data
    yield from zip(names[features], row.data.tolist(), coef.T, strict=True)


def _extremes(weights, n):
    """Return where the n largest and the n most negative weights are, in their order.

    Weights of zero, and forbidden ones, are not among them.
    """
    rows = np.flatnonzero(np.isfinite(weights) & (weights != 0.0))
    if len(rows) > 2 * n:
        order = np.argpartition(weights[rows], (n - 1, -n))
        rows = rows[np.sort(np.r_[order[:n], order[-n:]])]
    rows = rows[np.argsort(-weights[rows], kind="stable")]
    n_positive = np.count_nonzero(weights[rows] > 0.0)
    return np.r_[rows[:n_positive][:n], rows[n_positive:][-n:]]
