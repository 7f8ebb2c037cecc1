"""Explanation: the terms of the scores of label paths that differ at one position.

structures/rivals.py has the best paths with other labels at one position, and
structures/path_terms.py the parts of the scores of paths that are not the same in all
of them. `Explanation` compares, orders and shows them.
"""

import html
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.grids import Cell, clipped, html_grid, text_grid, weight_cells
from skcrf_sdca._utils.messages import as_integer, as_list
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.heads import checked_heads
from skcrf_sdca.data.label_encoding import (
    encode_known_labels,
    label_codes,
    plain_labels,
)
from skcrf_sdca.data.trees import heads_of
from skcrf_sdca.structures.path_terms import Terms
from skcrf_sdca.structures.rivals import Rivals

if TYPE_CHECKING:
    import pandas

_MAX_ROWS, _MAX_LABELS = 20, 6

Contribution = namedtuple("Contribution", ["feature", "value", "contributions"])


class Explanation:
    """What each feature and each neighbour contributed to each label at a position.

    It is what ``explain`` returns: ``contributions[:, k]`` are the terms of
    score(path of k) - score(path of reference), and add up to ``scores[k]``. It shows
    as text in a terminal and as a table in a notebook.

    Parameters
    ----------
    terms : Terms
        ``features``, a list of n_terms names; ``values`` of shape (n_terms,), the
        values of the features, and 1 for terms without a feature; ``scores`` of shape
        (n_terms, n_paths), the part of each term in the score of each path, -inf if
        forbidden; and ``positions``, a list of those where the paths differ.
    probabilities : ndarray of shape (n_classes,), or None
        Marginal probability of each label; None if the model has no probabilities.
    classes : list of length n_classes
    position : int
    label : int
        Number of the label that the predicted or given path has at the position.
    reference : int or None
        Number of the label that the others are compared with. None if no other label is
        possible at the position.
    labels : list of int
        Numbers of the labels to explain.
    paths : dict of int to ndarray of shape (T,)
        Numbers of the labels of each path, by its label at the position.

    Attributes
    ----------
    position : int
    label, reference : object
        As labels, not as numbers: the label of the predicted or given path, and the one
        that the others are compared with. The reference is None if no other label is
        possible; then there are no terms.
    labels : list of n_labels labels
    probabilities : ndarray of shape (n_labels,), or None
        Marginal probability of each label at the position: the sum over all paths which
        have it there, not only its best path.
    paths : dict of label to list of T labels
        The path of each label of `labels`, and of the reference. For one-node chains
        T = 1.
    positions : list of int
        Where these paths differ.
    features : list of n_terms names
        Names of the terms, by decreasing contribution to the first label. Terms of
        another position than `position` begin with it, as in ``[3] w=the``.
        ``<transition 3-4>`` is the transition between two positions where the paths
        differ.
    values : ndarray of shape (n_terms,)
    contributions : ndarray of shape (n_terms, n_labels)
    scores : ndarray of shape (n_labels,)
        Sums of the contributions: differences of the scores of paths.

    Raises
    ------
    ValueError
        If the path of the reference is forbidden, as a given path can be.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
    >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
    >>> explanation = crf.explain([["w=the"], ["w=dogs"]], 1)
    >>> explanation.label, explanation.reference
    ('NOUN', 'DET')
    >>> explanation.paths
    {'NOUN': ['DET', 'NOUN'], 'DET': ['DET', 'DET']}
    >>> for feature, value, contributions in explanation:
    ...     print(f"{contributions['NOUN']:+.2f} {feature}")
    +0.77 <end>
    +0.48 <after DET>
    +0.43 w=dogs
    +0.21 <intercept>
    """

    def __init__(
        self,
        terms: Terms,
        probabilities: NDArray[np.float64] | None,
        classes: list[Any],
        *,
        position: int,
        label: int,
        reference: int | None,
        labels: list[int],
        paths: dict[int, NDArray[Any]],
    ) -> None:
        column = {k: j for j, k in enumerate(paths)}
        base = terms.scores[:, column[label if reference is None else reference]]
        if (base == -np.inf).any():
            raise ValueError(
                f"reference: the given path, with the label {classes[label]!r} at "
                f"position {position}, is forbidden; choose another label."
            )
        differences = terms.scores - base[:, np.newaxis]
        lead = next((k for k in labels if k != reference), labels[0])
        rows = np.argsort(-differences[:, column[lead]], kind="stable")
        self.position, self.positions = position, terms.positions
        self.label = classes[label]
        self.reference = None if reference is None else classes[reference]
        self.labels = [classes[k] for k in labels]
        self.probabilities = None if probabilities is None else probabilities[labels]
        self.paths = {
            classes[k]: [classes[j] for j in path.tolist()] for k, path in paths.items()
        }
        self.features = [terms.features[i] for i in rows.tolist()]
        self.values = terms.values[rows]
        chosen = np.array([column[k] for k in labels])
        self.contributions = differences[np.ix_(rows, chosen)]
        self.scores = self.contributions.sum(axis=0)
        shown = [""] * len(classes)
        if probabilities is not None:
            shown = [f" (probability {p:.3f})" for p in probabilities]
        compared = [k for k in (lead, reference) if k is not None]
        self._title = " against ".join(clipped(classes[k]) + shown[k] for k in compared)

    def __len__(self) -> int:
        """Return the number of terms."""
        return len(self.features)

    def __iter__(self) -> Iterator[Contribution]:
        """Yield named tuples: feature, value, {label: contribution}."""
        rows = zip(
            self.features,
            self.values.tolist(),
            self.contributions.tolist(),
            strict=True,
        )
        for feature, value, row in rows:
            by_label = dict(zip(self.labels, row, strict=True))
            yield Contribution(feature, value, by_label)

    def to_frame(self) -> "pandas.DataFrame":
        """Return the contributions as a pandas DataFrame.

        Returns
        -------
        frame : pandas.DataFrame of shape (n_terms, n_labels)
            A column for each label; feature and value are the index.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        import pandas as pd

        rows = [self.features, self.values]
        index = pd.MultiIndex.from_arrays(rows, names=["feature", "value"])
        columns = pd.Index(self.labels, name="label")
        return pd.DataFrame(self.contributions, index=index, columns=columns)

    def __repr__(self):
        """Return the contributions as aligned text."""
        title = "\n".join(self._titles())
        if self.reference is None:
            return title
        return f"{title}\n\n{text_grid(self._shown())}"

    def _repr_html_(self):
        title = "<br>".join(map(html.escape, self._titles()))
        table = "" if self.reference is None else html_grid(self._shown())
        return f"<p><b>{title}</b></p>{table}"

    def _titles(self):
        """Return the lines above the table."""
        title = f"Position {self.position}: {self._title}"
        if self.reference is None:
            return [f"{title}; no other label is possible here"]
        if len(self.positions) < 2:
            return [title]
        places = clipped(", ".join(map(str, self.positions)))
        explained = [self._path_text(self.labels[j]) for j in self._shown_columns()]
        paths = f"{', '.join(explained)} against {self._path_text(self.reference)}"
        return [title, f"Positions {places}: {paths}"]

    def _path_text(self, label):
        """Return the labels of a path where the paths differ."""
        return clipped(" ".join(str(self.paths[label][s]) for s in self.positions))

    def _shown_columns(self):
        """Return which of the labels are shown."""
        columns = [j for j, k in enumerate(self.labels) if k != self.reference]
        return columns[:_MAX_LABELS] or [0]

    def _shown(self):
        """Return the rows of cells, the header first."""
        columns = self._shown_columns()
        features, values, rows = self._shown_terms(columns)
        numbers = weight_cells(np.vstack([self.scores[columns], rows]).ravel().tolist())
        numbers = np.fromiter(numbers, dtype=object).reshape(-1, len(columns)).tolist()
        heads = [("", Cell("value", True))]
        cells = [[Cell(clipped(self.labels[j]), True) for j in columns]]
        if self.probabilities is not None:
            heads.append(("probability", _BLANK))
            cells.append([_number_cell(p, ".3f") for p in self.probabilities[columns]])
        names, values = zip(
            *heads, ("score", _BLANK), *zip(features, values, strict=True), strict=True
        )
        rows = zip(names, values, [*cells, *numbers], strict=True)
        return [(Cell(clipped(name)), value, *cells) for name, value, cells in rows]

    def _shown_terms(self, columns):
        """Return names, cells of values, contributions; middle terms are added up."""
        features = self.features
        values = [_number_cell(value, ".4g") for value in self.values]
        rows = self.contributions[:, columns]
        if len(features) <= _MAX_ROWS:
            return features, values, rows
        half = _MAX_ROWS // 2
        others = f"({len(features) - 2 * half} others)"
        return (
            [*features[:half], others, *features[-half:]],
            [*values[:half], _BLANK, *values[-half:]],
            np.vstack([rows[:half], rows[half:-half].sum(axis=0), rows[-half:]]),
        )


class HeadExplanation(Explanation):
    """An Explanation of heads, whose positions are words, counted from 1."""

    def _path_text(self, label):
        heads = self.paths[label]
        return clipped(" ".join(str(heads[m - 1]) for m in self.positions))


_BLANK = Cell("", True)


def _number_cell(value, form):
    return Cell(format(value, form), True)


def explanation_of(
    rivals: Rivals,
    terms_of: Callable[[NDArray[Any]], Terms],
    probabilities: NDArray[np.float64] | None,
    *,
    labels: list[int] | None,
    reference: int | None,
) -> Explanation:
    """Return the Explanation of numbers of labels, which are chosen by default.

    ``terms_of`` takes the paths (n_paths, T), and ``probabilities`` are those of all
    labels at the position.
    """
    labels, reference = rivals.choose(labels, reference)
    paths = rivals.paths(labels, reference)
    return Explanation(
        terms_of(np.stack(list(paths.values()))),
        probabilities,
        rivals.classes,
        position=rivals.position,
        label=rivals.label,
        reference=reference,
        labels=labels,
        paths=paths,
    )


def explanation_of_heads(
    word: int,
    n_words: int,
    tree_with: Callable[[list[int]], NDArray[Any]],
    terms_of: Callable[[NDArray[Any]], Terms],
    marginals: NDArray[np.float64] | None,
    *,
    labels: Iterable[int] | None,
    reference: int | None,
) -> HeadExplanation:
    """Return the HeadExplanation of a word of one sentence.

    ``tree_with(heads)`` returns the labels of arcs in the best tree in which the word
    has one of these heads, empty if there is none; ``terms_of`` takes such trees, and
    ``marginals`` are those of arcs, or None.
    """
    every, place, trees = list(range(n_words + 1)), {"position": word, "first": 1}, {}
    n_arcs, probabilities = n_words * (n_words + 1), None

    def heads_with(heads):
        found = tree_with(heads)
        if not len(found):
            return found
        heads = heads_of(found[:n_arcs])
        trees[int(heads[word - 1])] = found
        return heads

    rivals = Rivals(heads_with(every), heads_with, every, **place)
    if labels is not None:
        labels = checked_heads(labels, "labels", n_words)
    if reference is not None:
        (reference,) = checked_heads([reference], "reference", n_words)
    labels, reference = rivals.choose(labels, reference)
    paths = rivals.paths(labels, reference)
    if marginals is not None:
        probabilities = marginals[word - 1 : n_arcs : n_words, 1:].sum(axis=1)
    return HeadExplanation(
        terms_of(np.stack([trees[head] for head in paths])),
        probabilities,
        every,
        position=word,
        label=rivals.label,
        reference=reference,
        labels=labels,
        paths=paths,
    )


def codes_of(labels: Any, name: str, classes: NDArray[Any]) -> list[int]:
    """Return the numbers of labels that an argument has, or raise."""
    labels = as_list(labels, name, "labels")
    if not labels:
        raise ValueError(f"{name} is empty; at least one label is needed.")
    codes = label_codes(labels, classes)
    if (codes < 0).any():
        unknown, known = labels[np.argmin(codes)], plain_labels(classes)
        raise ValueError(
            f"{name}: {unknown!r} is not among the labels of fit, {known}."
        )
    return codes.tolist()


def codes_of_path(path: Any, n: int, classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the label numbers of a path of n labels that the user gives."""
    codes = encode_known_labels([path], [n], classes, name="path")
    if (codes < 0).any():
        t = int(np.argmin(codes))
        raise ValueError(f"path: the label {path[t]!r} was not seen in fit.")
    return codes


def checked_place(value: Any, n: int, name: str) -> int:
    """Return the number of one of n positions, negative from the end, as one >= 0.

    Raise TypeError if an argument is no integer, IndexError if there is no such place.
    """
    place = as_integer(value, name)
    if not -n <= place < n:
        raise IndexError(
            f"{name}: {value} is not in the {words().sequence} of {n} {words().item}s."
        )
    return place % n
