"""What an explanation compares: label paths of one sequence, and where they differ.

`Rivals` are the best paths with other labels at one position. `path_terms` are the
parts of the scores of paths that are not the same in all of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca.estimators.explanation import Terms
from skcrf_sdca.structures.chain.parameters import dense_coef

# Names of the weights that are shown as features.
INTERCEPT, START, END = "<intercept>", "<start>", "<end>"


class Rivals:
    """A label path, and the best of all paths that have another label at a position.

    Parameters
    ----------
    path : ndarray of shape (T,), int
    best_path_with : callable
        Takes numbers of labels, and returns the best of all paths that have one of them
        at the position: an empty array if all these paths are forbidden.
    classes : list of labels
    position : int
    first : int
        The position of the first label of the path: not 0 for a row of a table.

    Attributes
    ----------
    label : int
        That of the path at the position.
    """

    def __init__(
        self,
        path: NDArray[Any],
        best_path_with: Callable[[list[int]], NDArray[Any]],
        classes: list[Any],
        *,
        position: int,
        first: int,
    ) -> None:
        self.position = position
        self.first = first
        self.label = int(path[position - first])
        self._best_path_with = best_path_with
        self._classes = classes
        self._paths = {self.label: path}  # by the label at the position

    def choose(
        self, labels: list[int] | None, reference: int | None
    ) -> tuple[list[int], int | None]:
        """Return the labels to explain and the reference, by default the best other.

        The reference is None if no other label is possible. Raise ValueError for a
        label that is not, and say which are.
        """
        rival = reference
        if reference is None or reference == self.label:
            others = [k for k in range(len(self._classes)) if k != self.label]
            rival = self._find(others)
            reference = rival if None in (reference, rival) else reference
        if labels is None:
            labels = [k for k in (self.label, rival) if k is not None]
        if reference is not None:
            self._check_possible("reference", reference)
        for k in labels:
            self._check_possible("labels", k)
        return labels, reference

    def paths(
        self, labels: list[int], reference: int | None
    ) -> dict[int, NDArray[Any]]:
        """Return the paths of the labels and of the reference, as `choose` has them."""
        chosen = dict.fromkeys([*labels, reference])
        return {k: self._paths[k] for k in chosen if k is not None}

    def _find(self, labels):
        """Find the best path with one of these labels; return the label, or None."""
        path = self._best_path_with(labels)
        if not len(path):
            return None
        label = int(path[self.position - self.first])
        self._paths[label] = path
        return label

    def _check_possible(self, name, label):
        if label in self._paths or self._find([label]) is not None:
            return
        numbered = enumerate(self._classes)
        possible = [k for i, k in numbered if len(self._best_path_with([i]))]
        raise ValueError(
            f"{name}: forbidden transitions leave no path with the label "
            f"{self._classes[label]!r} at position {self.position}; possible labels "
            f"are {possible}."
        )


def path_terms(
    estimator: Any,
    X: Any,
    paths: NDArray[Any],
    names: NDArray[Any],
    *,
    position: int,
    first: int,
) -> Terms:
    """Return the terms of the scores of paths, without those that are equal in all.

    Parameters
    ----------
    estimator : estimator with the fitted weights
    X : array or sparse array of shape (T, n_features)
    paths : ndarray of shape (n_paths, T), int
    names : ndarray of shape (n_features,)
    position : int
        The position that is explained. Names of terms of another one, s, begin with
        ``[s]``.
    first : int
        The position of the first labels of the paths.

    Returns
    -------
    terms : Terms
    """
    differs = (paths != paths[0]).any(axis=0)
    changed = np.flatnonzero(differs).tolist()
    terms = []
    for s in changed:
        where = "" if first + s == position else f"[{first + s}] "
        for feature, value, scores in state_terms(estimator, X[[s]], paths[:, s]):
            terms.append((f"{where}{names[feature]}", value, scores))
        for name, scores in _bias_terms(estimator, paths, s, differs):
            terms.append((f"{where}{name}", 1.0, scores))
        if s > 0 and differs[s - 1]:
            scores = estimator.transition_[paths[:, s - 1], paths[:, s]]
            terms.append((f"<transition {s - 1}-{s}>", 1.0, scores))
    terms += _tuple_terms(estimator, X, paths, names, differs)
    return new_terms(terms, paths, [first + s for s in changed])


def new_terms(
    terms: list[tuple[str, float, NDArray[Any]]],
    paths: NDArray[Any],
    positions: list[int],
) -> Terms:
    """Return terms (name, value, scores of the paths) that are not equal in all paths.

    ``positions`` are those where the paths differ.
    """
    # Different labels may have the same weight.
    terms = [term for term in terms if (term[2] != term[2][0]).any()]
    features, values, rows = zip(*terms, strict=True) if terms else ((), (), ())
    scores = np.array(rows).reshape(-1, len(paths))
    return Terms(list(features), np.array(values), scores, positions)


def _tuple_terms(estimator, X, paths, names, differs):
    """Yield the terms of more than two labels, and those of edge features."""
    n_positions, n_labels = paths.shape[1], len(estimator.classes_)
    for m, weights in enumerate(estimator.higher_transitions_, start=3):
        for s in range(m - 1, n_positions):
            labels = slice(s - m + 1, s + 1)
            if differs[labels].any():
                name = f"<labels {s - m + 1}-{s}>"
                yield name, 1.0, weights[tuple(paths[:, labels].T)]
    if estimator.edge_coef_ is None:
        return
    for s in range(1, n_positions):
        if differs[s - 1 : s + 1].any():
            row = sp.coo_array(X[[s]])
            features, pairs = row.coords[1], paths[:, s - 1] * n_labels + paths[:, s]
            coef = estimator.edge_coef_[:, features][pairs].toarray() * row.data
            for feature, value, scores in zip(features, row.data, coef.T, strict=True):
                name = f"<transition {s - 1}-{s}> {names[feature]}"
                yield name, float(value), scores


def state_terms(estimator, row, labels):
    """Yield the numbers of the features in a row, their values, and their scores."""
    row = sp.coo_array(row)
    features = row.coords[1]
    coef = dense_coef(estimator.coef_[:, features])[labels]
    yield from zip(features, row.data.tolist(), (coef * row.data).T, strict=True)


def _bias_terms(estimator, paths, s, differs):
    """Yield name and scores of the weights without a feature at position s.

    Of the transitions these are the ones from and to labels that all paths share.
    """
    labels, last = paths[:, s], paths.shape[1] - 1
    yield INTERCEPT, estimator.intercept_[labels]
    if s == 0:
        yield START, estimator.start_[labels]
    elif not differs[s - 1]:
        before = paths[0, s - 1]
        name = f"<after {estimator.classes_[before]}>"
        yield name, estimator.transition_[before, labels]
    if s == last:
        yield END, estimator.end_[labels]
    elif not differs[s + 1]:
        after = paths[0, s + 1]
        name = f"<before {estimator.classes_[after]}>"
        yield name, estimator.transition_[labels, after]
