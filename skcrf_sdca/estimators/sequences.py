"""BaseCRF and ChainCRF: the fits of estimators of sequences, and of chains.

Their X, and which weights chains have of several labels. The fit itself is in base.py;
the methods of a fitted estimator are in sequence_answers.py.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca._utils.memory import check_fits, may_fit, size_text
from skcrf_sdca._utils.typing import Labels, Sequences
from skcrf_sdca.data.edge_features import numbers_of
from skcrf_sdca.data.label_encoding import label_array, plain_labels
from skcrf_sdca.data.label_names import names_of_classes
from skcrf_sdca.data.label_runs import RunCounts
from skcrf_sdca.data.sequences import read_sequences
from skcrf_sdca.estimators.base import BaseFit, caller_level
from skcrf_sdca.model.decoding_check import (
    DecodingWarning,
    decoding_message,
    frames_to_compare,
)
from skcrf_sdca.model.fitted import no_probabilities
from skcrf_sdca.model.sequence_answers import ChainAnswers, SequenceAnswers
from skcrf_sdca.solvers.base import N_VECTORS
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.structures.chain.constraints import FROM_DATA, read_constraints
from skcrf_sdca.structures.chain.label_parts import read_label_parts
from skcrf_sdca.structures.chain.observed import ObservedPairs, neighbours
from skcrf_sdca.structures.chain.observed_chain import (
    ObservedChain,
    observed_label_pairs,
    observed_label_tuples,
)
from skcrf_sdca.structures.chain.tuple_parameters import PairFeatures
from skcrf_sdca.structures.chain.tuple_structure import TupleChain
from skcrf_sdca.structures.scores import POSTERIOR, VITERBI
from skcrf_sdca.structures.weight_choice import (
    AUTO,
    OBSERVED,
    are_many_pairs,
    bytes_of_observed,
    bytes_of_pairs,
)

# The values of parameters that models of parts need.
_WITHOUT_PARTS = {"order": 1, "edge_features": None}


class BaseCRF(SequenceAnswers, BaseFit):
    """Base of the estimators of sequences: all but their structure and parameters."""

    _read = staticmethod(read_sequences)

    def __sklearn_tags__(self):
        """Return the tags: a classifier of rows, sparse or dense, or of sequences."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = True
        tags.input_tags.dict = True
        tags.input_tags.string = True
        return tags

    def _auto_strength(self, training):
        data, weight = training.data, self._sequence_weight(training)
        counts = RunCounts.of(data, training.labels, weight)
        return counts.strength(training.attributes["n_features_in_"])


class ChainCRF(ChainAnswers, BaseCRF):
    """Base of the estimators of chains: all but the parameters and the solver."""

    _structure = "chain"

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
        init: "ChainCRF | Pipeline | None" = None,
        prior: "ChainCRF | Pipeline | None" = None,
    ) -> Self:
        """Fit the model to labelled sequences.

        Parameters
        ----------
        X : list, tuple, object array or generator of n sequences, or PackedSequences
            A sequence of T items is a list of T dicts (str -> str, number, bool, nested
            dict, list or set, or 1-D array), a list of T lists of str, an array of
            shape (T, n_features), a data frame or scipy sparse matrix of that shape, or
            a 1-D array of T floats, one feature; all sequences have the same input
            format, and all frames the same columns in the same order. A table, a single
            array, data frame or sparse matrix of shape (n_rows, n_features), with a 1-D
            y, is cut into sequences by `lengths`; without them it is n_rows chains of
            one node each: multinomial logistic regression.
        y : list of n lists of T labels, or array-like of shape (n_rows,)
            Labels of one type: str, int, bool or other sortable, hashable objects;
            floats must be whole numbers. None, and the parameter `unknown_label`, stand
            for a label that is not known, a set of labels for one of these, and a dict
            {label: probability} for a soft label. Beside PackedSequences also one
            array with the labels of all positions.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence, not negative. Only ratios count, but for the value
            of ``alpha="auto"``. It weighs the loss alone: a sequence of weight 0 has
            none, and "observed" features, pairs of labels and transitions are those of
            all sequences.
        lengths : array-like of int of shape (n,), default=None
            If X is one table, the number of rows of each sequence in it, in their
            order, as in hmmlearn. They sum to n_rows.
        X_val, y_val : as X and y, default=None
            Held-out data. The model of every epoch is scored on them, see `scoring`;
            the scores are ``history_["val_score"]``. Unless `patience` is set, the
            fit is the same as without them. Labels that are not in y count as wrong.
            X_val may be a function of no argument that returns the sequences. With
            `lengths`, an X_val that is one table is one sequence; if it holds several,
            pass ``PackedSequences.from_lengths(X_val, lengths_val)``.
        init : estimator, default=None
            A fitted CRF to start from, for example a `PassiveAggressiveCRF` or a model
            of another alpha, or a `Tagger` that ends in one. Features and labels are
            matched by name, features without names by number; what `init` does not know
            starts at 0, also weights of tuples of labels and of edge features, and what
            the fit has no place for is left out. Only the way to the solution changes:
            the objective and its certificate stay the same.
        prior : estimator, default=None
            A fitted CRF, or a `Tagger` that ends in one, that the weights shall stay
            near, for example of another domain with more data [1]_. With its weights
            w_0 the fit minimises::

                P(w) = alpha r(w - w_0) + 1/n sum_i L_i(w)

            where r is the penalty: ``1/2 ||w - w_0||^2`` for L2. The objectives, the
            gap and the tolerance are those of this P. The larger alpha, the nearer the
            weights are to w_0. The model has the labels and features of both: features
            that X lacks keep their weights, and what `prior` does not know has w_0 = 0.
            Features are matched as for `init`; with packed X, features that X does not
            know are left out. With ``transitions=None`` what `prior` forbids stays
            forbidden, unless y has it. "observed" and "open" allow what `prior` allows
            too. A scheme, a mask or a list of pairs decides alone. If `prior` has
            another temperature, its scores count, and not its probabilities. A `prior`
            of a lower `order`, or without edge features, has w_0 = 0 for these weights;
            its edge features that are not in `edge_features` keep their weights.
            `prior` is not changed.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If X, y and `lengths` do not fit together, X or y has NaN or infinity or no
            known format, or y breaks ``transitions``; the message names the argument,
            the sequence and the item. The same for X_val and y_val, of which one alone
            is an error. ValueError or TypeError if `init` is not a fitted CRF with
            features of the same format, if ``warm_start=True`` has a state already, and
            for a solver that does not start from weights: those of ``loss="hinge"`` and
            of `PassiveAggressiveCRF`. The same for a `prior` that
            is not a fitted CRF with the input format of X, for ``warm_start=True``
            with a `prior`, for `PassiveAggressiveCRF`, which has no objective, and for
            a `prior` of a higher `order`, or with edge features if the fit has none and
            ``order=1``.

        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * primal after max_iter epochs. A fit that
            `patience` ends does not warn.
        NoChainsWarning
            If X is a table without `lengths`, and long runs of equal labels in y
            suggest that it is a recording whose rows follow each other.
        DecodingWarning
            If X has dense rows, and on training data the largest marginals have over 2
            % more positions right than the best path, see `decoding`.

        References
        ----------
        .. [1] Chelba, Acero, "Adaptation of maximum entropy capitalizer: little data
           can help a lot", Computer Speech and Language 20, 2006.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> X = [[{"word": "the"}, {"word": "Rhine"}], [{"word": "Basel"}]]
        >>> y = [["O", "LOC"], ["LOC"]]
        >>> crf = SDCACRF(random_state=0).fit(X, y)
        >>> bool(crf.duality_gap_ <= crf.gap_target_)
        True

        One table with the rows of two sequences:

        >>> table, labels = [[0.1], [0.3], [2.1], [0.2], [1.9]], [0, 0, 1, 0, 1]
        >>> crf = SDCACRF(random_state=0).fit(table, labels, lengths=[3, 2])
        >>> crf.predict(table, lengths=[3, 2])
        array([0, 0, 1, 0, 1])

        Adapted to another domain, in which there are other words and one label more:

        >>> news = SDCACRF(random_state=0).fit(X, y)
        >>> emails = [[{"word": "dear"}, {"word": "Ann"}]]
        >>> crf = SDCACRF(random_state=0).fit(emails, [["O", "PER"]], prior=news)
        >>> crf.classes_.tolist(), crf.n_features_in_
        (['LOC', 'O', 'PER'], 5)
        """
        given = {"sample_weight": sample_weight, "lengths": lengths}
        return self._fit(X, y, X_val, y_val, init, prior, **given)

    def _check_answers(self, training):
        if self._decoding() != VITERBI or no_probabilities(self):
            return
        frames = frames_to_compare(training, self.n_iter_)
        if frames is None:
            return
        found = self._decoded(self._packed(frames), VITERBI, POSTERIOR)
        if message := decoding_message(*found, training.labels):
            warnings.warn(message, DecodingWarning, stacklevel=caller_level())

    def _takes_tables(self):
        """Return whether single rows have no labels before them, and any labels."""
        # A pickle of an earlier version may lack a parameter.
        order, edge_features, transitions = map(
            vars(self).get, ("order", "edge_features", "transitions"), (1, None, None)
        )
        is_scheme = isinstance(transitions, str) and transitions not in FROM_DATA
        return order == 1 and edge_features is None and not is_scheme

    def _check_places(self, prior):
        prior.check_places(self.order, self.edge_features)
        self._check_has_same_axes(prior.model, "prior")

    def _check_start(self, init):
        self._check_has_same_axes(init, "init")

    def _check_has_same_axes(self, model, name):
        """Raise ValueError if a model of an argument has weights of labels, not parts.

        Or the other way round.
        """
        own, its = self.label_features is not None, model.label_features_ is not None
        if own != its:
            has, has_not = ("the fit", name)[:: 1 if own else -1]
            raise ValueError(
                f"{name}: {has} has label_features, and {has_not} has none, so that "
                "one has weights of parts, and one of labels; set label_features in "
                "both or in none"
            )

    def _further_labels(self):
        given = self.label_features
        if not isinstance(given, Mapping) or not given:
            return None
        return label_array(list(given)), "label_features"

    def _with_parts(self, training):
        """Return TrainingData with the parts of labels."""
        for name, value in _WITHOUT_PARTS.items():
            own = getattr(self, name)
            if not (own is None or np.array_equal(own, value)):
                raise ValueError(
                    f"label_features is not taken with {name}; set {name}={value}, or "
                    "label_features=None"
                )
        classes = training.attributes["classes_"]
        names = list(names_of_classes(self, classes))
        parts = read_label_parts(self.label_features, plain_labels(classes), names)
        found = np.fromiter(parts.names, dtype=object, count=parts.n_parts)
        own = {"parts_": found, "label_features_": parts.matrix}
        return replace(training, parts=parts, attributes=training.attributes | own)

    def _with_own_training(self, training, prior):
        if self.label_features is not None:
            training = self._with_parts(training)
        classes = training.attributes["classes_"]
        allowed = None
        if prior is not None:
            allowed = prior.constraints(classes, new=self.transitions is None)
        constraints = read_constraints(
            self.transitions,
            classes,
            training.labels,
            training.data.offsets,
            rows=training.label_rows,
            names=names_of_classes(self, classes),
            allowed=allowed,
        )
        if training.parts is not None and constraints is not None:
            constraints.check_of_parts("transitions")
        pairs = self._label_pairs(training, constraints, prior)
        return replace(training, constraints=constraints, label_pairs=pairs)

    def _label_pairs(self, training, constraints, prior):
        """Return the pairs of labels with a weight, a mask; None if all allowed ones.

        Beside those of the data they are the pairs that a Prior has weights for. In
        chains over label tuples they are tuples, as of `LabelTuples`.
        """
        if not self._has_label_pairs(training):
            return None
        classes = training.attributes["classes_"]
        what = "pairs" if self.order == 1 else f"tuples of {self.order + 1}"
        check_fits(
            bytes_of_pairs(len(classes), self.order),
            f"all {what} of {len(classes)} labels",
            "join labels that are rare (are all values in y labels?)",
        )
        if self._has_label_tuples:
            longest = self.order + 1
            tuples = _observed_of(training, observed_label_tuples, longest)
            if prior is not None:
                tuples = np.vstack([tuples, prior.label_tuples(classes, longest)])
            return np.unique(tuples, axis=0)
        pairs = _observed_of(training, observed_label_pairs)
        if prior is not None:
            pairs |= prior.label_pairs(classes)
        if constraints is None:
            return None if pairs.all() else pairs
        return None if pairs[constraints.transition].all() else pairs

    @property
    def _has_label_tuples(self):
        """Whether states are tuples of labels."""
        return self.order > 1 or self.edge_features is not None

    def _has_label_pairs(self, training):
        """Return whether only observed pairs of labels have weights.

        "auto" does not choose them where they cannot be.
        """
        if self.label_pairs != AUTO:
            return self.label_pairs == OBSERVED
        if training.is_chunk or (self.order == 1 and self._has_label_tuples):
            return False
        n_labels = len(training.attributes["classes_"])
        are_many = are_many_pairs(training.data, n_labels, self.order)
        return are_many and may_fit(bytes_of_pairs(n_labels, self.order))

    def _advice_on_pairs(self, problem):
        """Return that weights of observed pairs of labels alone fit, if they do."""
        form, is_table = problem.structure.vector_form(), problem.structure.is_table
        is_plain = not self._has_label_tuples
        is_log_sum = "log sum" in problem.loss.offers
        if form.label_pairs is not None or is_table or not (is_plain and is_log_sum):
            return ""
        n_bytes = bytes_of_observed(problem, N_VECTORS, OEG.bytes_of_potential)
        if not may_fit(n_bytes):
            return ""
        return (
            '; with label_pairs="observed", which allows every transition, OEG takes '
            f"{size_text(n_bytes)}"
        )

    def _pairs(self, training, n_labels):
        if training.parts is None:
            return super()._pairs(training, n_labels)
        if not self._counts_pairs(training):
            return None
        rows, parts = training.label_rows, training.parts
        labels = parts.of_labels(training.labels if rows is None else rows)
        return ObservedPairs.of_data(
            training.data.X, labels, parts.n_parts, self.min_count
        )

    def _structure_options(self, training):
        order, edge_features = self.order, self.edge_features
        parts = {} if training.parts is None else {"parts": training.parts}
        if not self._has_label_tuples:
            if training.label_pairs is None:
                return self._structure, parts
            return ObservedChain.name, {"label_pairs": training.label_pairs, **parts}
        options = {"order": order, "label_tuples": training.label_pairs}
        if edge_features is not None:
            columns = numbers_of(edge_features, training)
            pairs = self._pairs_of_neighbours(training, columns)
            options["pair_features"] = PairFeatures(columns, pairs)
        return TupleChain.name, options

    def _pairs_of_neighbours(self, training, columns):
        """Return the pairs of labels that edge features have weights for; None: all."""
        if not self._counts_pairs(training):
            return None
        data, rows = training.data, training.label_rows
        labels = training.labels if rows is None else rows
        n_labels = len(training.attributes["classes_"])
        pairs = neighbours(labels, data.offsets, n_labels)
        X = sp.csr_array(data.X)[:, columns]
        return ObservedPairs.of_data(X, pairs, n_labels**2, self.min_count)


def _observed_of(training, observed, *args):
    """Return what ``observed`` finds in labels.

    It takes labels, offsets and the number of labels, and further arguments.
    """
    rows = training.label_rows
    labels = training.labels if rows is None else rows
    n_labels = len(training.attributes["classes_"])
    return observed(labels, training.data.offsets, n_labels, *args)
