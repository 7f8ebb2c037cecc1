"""What an explanation compares: label paths of one sequence, and where they differ.

`Rivals` are the best paths with other labels at one position. `path_terms` are the
parts of the scores of paths that are not the same in all of them; each structure has
its own terms of several labels.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca.estimators.explanation import Terms
from skcrf_sdca.structures.form import dense_coef

# Names of the weights that are shown as features.
INTERCEPT, START, END, LABELS = "<intercept>", "<start>", "<end>", "<labels>"


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
        The label of the path at the position.
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
    joint_terms: Callable[..., Iterable[tuple[str, float, NDArray[Any]]]],
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
    joint_terms : callable
        Takes a mask (T,) of where the paths differ, and yields the terms of the labels
        of several positions.
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
    terms, places = [], {START: 0, END: paths.shape[1] - 1}
    for s in changed:
        labels, where = paths[:, s], "" if first + s == position else f"[{first + s}] "
        for feature, value, scores in _feature_terms(estimator, X[[s]], labels):
            terms.append((f"{where}{names[feature]}", value, scores))
        for name, weights in estimator._bias_weights().items():
            if places.get(name, s) == s:
                terms.append((f"{where}{name}", 1.0, weights[labels]))
    terms += joint_terms(differs)
    # Different labels may have the same weight.
    terms = [term for term in terms if (term[2] != term[2][0]).any()]
    features, values, rows = zip(*terms, strict=True) if terms else ((), (), ())
    scores = np.array(rows).reshape(-1, len(paths))
    positions = [first + s for s in changed]
    return Terms(list(features), np.array(values), scores, positions)


def _feature_terms(estimator, row, labels):
    """Yield the numbers of the features in a row, their values, and their scores."""
    row = sp.coo_array(row)
    features = row.coords[1]
    coef = dense_coef(estimator.coef_[:, features])[labels]
    yield from zip(features, row.data.tolist(), (coef * row.data).T, strict=True)


def chain_terms(estimator, X, paths, names, differs, *, position, first):
    """Yield the terms of neighbours in a chain; the arguments are as of `path_terms`.

    Of the transitions at a position the ones from and to a label that all paths share
    are named by it.
    """
    weights, last = estimator.transition_, paths.shape[1] - 1
    for s in np.flatnonzero(differs).tolist():
        labels, where = paths[:, s], "" if first + s == position else f"[{first + s}] "
        if s > 0 and differs[s - 1]:
            yield f"<transition {s - 1}-{s}>", 1.0, weights[paths[:, s - 1], labels]
        elif s > 0:
            before = paths[0, s - 1]
            name = f"{where}<after {estimator.classes_[before]}>"
            yield name, 1.0, weights[before, labels]
        if s < last and not differs[s + 1]:
            after = paths[0, s + 1]
            name = f"{where}<before {estimator.classes_[after]}>"
            yield name, 1.0, weights[labels, after]
    yield from _tuple_terms(estimator, X, paths, names, differs)


def graph_terms(estimator, edges, paths, differs):
    """Yield the terms of the Edges of one graph that join nodes whose labels differ."""
    for (a, b), row in zip(edges.ends.tolist(), edges.features, strict=True):
        if differs[a] or differs[b]:
            scores = row @ estimator.edge_coef_[:, paths[:, a], paths[:, b]]
            yield f"<edge {a}-{b}>", 1.0, scores


def segment_terms(estimator, grammar, rows, paths):
    """Yield the terms of the segments of paths, and of transitions between these.

    Parameters
    ----------
    estimator : SegmentCRF
    grammar : Grammar
    rows : SegmentRows, or None
        The features of the segments of the sequence.
    paths : ndarray of shape (n_paths, T), int
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


def _tuple_terms(estimator, X, paths, names, differs):
    """Yield the terms of more than two labels, and of edge features."""
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
