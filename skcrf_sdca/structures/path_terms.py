"""The parts of the scores of label paths that are not the same in all of them.

Estimators and `skcrf_sdca.serving` explain by them: what gives the weights of features
at a position differs, and the terms, their names and their order do not. It is NumPy
alone.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Weights that are shown as features: of one label, and of the last of several.
BIASES = {"<intercept>": "intercept_", "<start>": "start_", "<end>": "end_"}

Terms = namedtuple("Terms", ["features", "values", "scores", "positions"])
# A name, the value of a feature or 1, and the part of the score of each path.
Term = tuple[str, float, NDArray[Any]]


class LabelTerms(NamedTuple):
    """The terms of single labels.

    Parameters
    ----------
    features : callable
        ``features(s, labels)`` yields the terms of the features at position s that are
        not zero, with a score for each of the numbers of labels.
    biases : callable
        ``biases(labels)`` returns the scores of weights without a feature, by the names
        in `BIASES`.
    """

    features: Callable[[int, NDArray[Any]], Iterable[Term]]
    biases: Callable[[NDArray[Any]], dict[str, NDArray[Any]]]


def path_terms(
    of_labels: LabelTerms,
    paths: NDArray[Any],
    joint_terms: Callable[[NDArray[np.bool_]], Iterable[Term]],
    *,
    position: int,
    first: int,
) -> Terms:
    """Return the terms of the scores of paths, without those that are equal in all.

    The paths, of shape (n_paths, T), begin at the position ``first`` of X. Names of
    terms of another position than the one explained, s, begin with ``[s]``.
    ``joint_terms`` takes a mask of the positions where paths differ, and yields the
    terms of the labels of several.
    """
    differs = (paths != paths[0]).any(axis=0)
    changed = np.flatnonzero(differs).tolist()
    terms, places = [], {"<start>": 0, "<end>": paths.shape[1] - 1}
    for s in changed:
        labels, where = paths[:, s], "" if first + s == position else f"[{first + s}] "
        for feature, value, scores in of_labels.features(s, labels):
            terms.append((f"{where}{feature}", value, scores))
        for name, scores in of_labels.biases(labels).items():
            if places.get(name, s) == s:
                terms.append((f"{where}{name}", 1.0, scores))
    terms += joint_terms(differs)
    return terms_that_differ(terms, len(paths), [first + s for s in changed])


def terms_that_differ(terms: list[Term], n_paths: int, positions: list[int]) -> Terms:
    """Return the Terms of paths that differ at positions, without equal ones."""
    # Different labels may have the same weight.
    terms = [term for term in terms if (term[2] != term[2][0]).any()]
    features, values, rows = zip(*terms, strict=True) if terms else ((), (), ())
    scores = np.array(rows).reshape(-1, n_paths)
    return Terms(list(features), np.array(values), scores, positions)


def chain_terms(
    transition: NDArray[np.float64],
    classes: NDArray[Any],
    paths: NDArray[Any],
    differs: NDArray[np.bool_],
    *,
    position: int,
    first: int,
) -> Iterator[Term]:
    """Yield the terms of neighbours in a chain; the arguments are as of `path_terms`.

    Of the transitions at a position the ones from and to a label that all paths share
    are named by it.
    """
    last = paths.shape[1] - 1
    for s in np.flatnonzero(differs).tolist():
        labels, where = paths[:, s], "" if first + s == position else f"[{first + s}] "
        if s > 0 and differs[s - 1]:
            yield f"<transition {s - 1}-{s}>", 1.0, transition[paths[:, s - 1], labels]
        elif s > 0:
            before = paths[0, s - 1]
            yield f"{where}<after {classes[before]}>", 1.0, transition[before, labels]
        if s < last and not differs[s + 1]:
            after = paths[0, s + 1]
            yield f"{where}<before {classes[after]}>", 1.0, transition[labels, after]


def tuple_terms(
    higher: Iterable[NDArray[np.float64]],
    of_pairs: Callable[[int, NDArray[Any]], Iterable[Term]] | None,
    paths: NDArray[Any],
    differs: NDArray[np.bool_],
) -> Iterator[Term]:
    """Yield the terms of more than two labels, and of edge features.

    ``higher`` has the weights of 3, 4, ... labels, and ``of_pairs(s, pairs)`` the terms
    of the features at a position, with a score for each of the pairs of labels there.
    """
    n_positions = paths.shape[1]
    for m, weights in enumerate(higher, start=3):
        for s in range(m - 1, n_positions):
            labels = slice(s - m + 1, s + 1)
            if differs[labels].any():
                name = f"<labels {s - m + 1}-{s}>"
                yield name, 1.0, weights[tuple(paths[:, labels].T)]
    if of_pairs is None:
        return
    for s in range(1, n_positions):
        if differs[s - 1 : s + 1].any():
            for name, value, scores in of_pairs(s, paths[:, s - 1 : s + 1]):
                yield f"<transition {s - 1}-{s}> {name}", value, scores


def segment_terms(
    grammar: Any,
    transition: NDArray[np.float64],
    length: NDArray[np.float64],
    of_segment: Callable[[int, int, NDArray[Any]], Iterable[Term]] | None,
    paths: NDArray[Any],
) -> Iterator[Term]:
    """Yield the terms of the segments of paths, and of transitions between these.

    ``of_segment(begin, end, types)`` yields the terms of the features of a segment.
    """
    # The paths that have a segment, with its type, and those with a transition.
    own: dict[tuple[int, int], dict[int, int]] = {}
    between: dict[int, dict[int, float]] = {}
    for j, path in enumerate(paths):
        begin, end, types, _ = grammar.segments(path, np.array([0, len(path)]))
        places = list(zip(begin.tolist(), end.tolist(), strict=True))
        for s, place in enumerate(places):
            own.setdefault(place, {})[j] = types[s]
            if s > 0:
                pair = transition[types[s - 1], types[s]]
                between.setdefault(place[0], {})[j] = pair

    def scores_of(rows, values):
        """Return the scores of all paths: 0 for those without the segment."""
        scores = np.zeros(len(paths))
        scores[list(rows)] = values
        return scores

    for (b, e), found in sorted(own.items()):
        types, name = np.array(list(found.values())), f"<segment {b}-{e - 1}>"
        yield name, 1.0, scores_of(found, length[types, e - b - 1])
        for feature, value, scores in of_segment(b, e, types) if of_segment else ():
            yield f"{name} {feature}", value, scores_of(found, scores)
    for b, found in sorted(between.items()):
        scores = scores_of(found, list(found.values()))
        yield f"<transition {b - 1}-{b}>", 1.0, scores
