"""TrimmingMixin: a fitted estimator with fewer weights or paths, or in less memory."""

import copy
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from skcrf_sdca._utils.typing import Transitions
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.data.label_names import names_of_classes
from skcrf_sdca.model.fitted import ChainModel, FittedModel
from skcrf_sdca.structures.chain.constraints import (
    FROM_DATA,
    Constraints,
    read_constraints,
)
from skcrf_sdca.structures.form import dense_coef


class TrimmingMixin(FittedModel):
    """Methods that drop weights of an estimator, or store them otherwise."""

    def sparsify(self) -> Self:
        """Make ``coef_`` a scipy sparse array: less memory if most weights are zero.

        Predictions stay the same, to the last bit. A sparse weight takes 12 bytes where
        a dense one takes 8, and weights are seldom zero before a `prune`.

        Returns
        -------
        self : object

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["A", "B"]])
        >>> crf.prune(0.01).sparsify().coef_.shape
        (2, 2)
        """
        self._check_is_fitted()
        self.coef_ = sp.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Make ``coef_`` a dense array, as it is after `fit`.

        Returns
        -------
        self : object

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["A", "B"]])
        >>> type(crf.sparsify().densify().coef_).__name__
        'ndarray'
        """
        self._check_is_fitted()
        self.coef_ = dense_coef(self.coef_)
        return self

    def prune(self, threshold: float = 0.0) -> Self:
        """Set small weights of features to zero, and drop features without weights.

        Features are dropped, from ``coef_`` and from ``vectorizer_``, after a fit on
        dicts or strings. Other input keeps its width; `sparsify` makes the model
        smaller then. What describes the fit (``duality_gap_``, ``history_``) stays.

        Parameters
        ----------
        threshold : float, default=0.0
            Weights with an absolute value of at most this are set to zero: at 0.0
            predictions stay the same, to the last bit.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If threshold is negative or not finite.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> X = [[["w=the", "rare"], ["w=cat"]], [["w=the"], ["w=cat"]]]
        >>> crf = SDCACRF(random_state=0).fit(X, [["DET", "NOUN"], ["DET", "NOUN"]])
        >>> crf.prune(0.2).vectorizer_.get_feature_names_out()
        array(['w=the', 'w=cat'], dtype=object)
        """
        self._check_is_fitted()
        check_scalar(threshold, "threshold", Real, min_val=0.0)
        if not np.isfinite(threshold):
            raise ValueError(f"threshold must be finite, got {threshold}.")
        pruned: dict[str, Any] = {
            block.attribute: _thresholded(getattr(self, block.attribute), threshold)
            for block in self._blocks()
            if block.is_matrix
        }
        if hasattr(self, "vectorizer_"):
            used = np.zeros(self.n_features_in_, dtype=bool)
            for coef in pruned.values():
                used |= (coef != 0).sum(axis=0) > 0
            pruned = {name: coef.T[used].T for name, coef in pruned.items()}
            pruned["vectorizer_"] = copy.copy(self.vectorizer_).restrict(used)
            pruned["n_features_in_"] = pruned["vectorizer_"].n_features_out_
        vars(self).update(pruned)
        return self


class ConstrainingMixin(TrimmingMixin, ChainModel):
    """Compression of chains, and a method that forbids transitions."""

    def constrain(self, transitions: Transitions) -> Self:
        """Forbid transitions in a fitted model: it predicts none of them from then on.

        The allowed paths keep the ratios of their probabilities. The parameter
        ``transitions`` of the estimator does the same in training too. Which of both is
        better depends on the data: a model that was trained with all paths has learnt
        more about wrong labels. A later `fit` or `partial_fit` follows the parameter
        alone.

        Parameters
        ----------
        transitions : str, ndarray or list of pairs
            As the parameter of the estimator, but for "observed" and "open".

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If transitions is malformed, None, or leaves no path with some label.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> X = [[["Ada"], ["Lovelace"], ["wrote"]], [["Lovelace"], ["wrote"]]]
        >>> y = [["B-PER", "I-PER", "O"], ["I-PER", "O"]]
        >>> crf = SDCACRF(random_state=0).fit(X, y)
        >>> crf.predict([[["Lovelace"]]])[0]
        ['I-PER']
        >>> crf.constrain("BIO").predict([[["Lovelace"]]])[0]
        ['O']
        """
        self._check_is_fitted()
        if transitions is None:
            raise ValueError(
                "transitions=None forbids nothing, and what was forbidden stays so: "
                "fit anew to allow it."
            )
        if isinstance(transitions, str) and transitions in FROM_DATA:
            raise ValueError(
                f"transitions={transitions!r} needs the labels of the training data: "
                "give it to the estimator, before fit."
            )
        no_labels = np.empty(0, dtype=int), np.zeros(1, dtype=int)
        constraints = read_constraints(
            transitions,
            self.classes_,
            *no_labels,
            names=names_of_classes(self, self.classes_),
        )
        if constraints is not None:
            if self.label_features_ is not None:
                constraints.check_of_parts("transitions")
            weights = constraints.forbid_weights(*self._scores_that_forbid())
            usable = Constraints.of_scores(*weights).usable()
            for label in plain_labels(self.classes_[~usable])[:1]:
                raise ValueError(
                    f"transitions={transitions!r} leaves no path with the label "
                    f"{label!r}: take a scheme that fits the labels, or allow more."
                )
            *ends, self.transition_ = weights
            if self.label_features_ is None:
                self.start_, self.end_ = ends
        return self


def _thresholded(coef, threshold):
    """Return coefficients with zeros where they are at most a threshold."""
    if not sp.issparse(coef):
        return np.where(np.abs(coef) > threshold, coef, 0.0)
    coef = coef.copy()
    coef.data[np.abs(coef.data) <= threshold] = 0.0
    coef.eliminate_zeros()
    return coef
