"""Explanation: the terms of the score of each label at one position of a sequence.

``BaseCRF.explain`` computes the terms. This module compares, orders and shows them.
"""

import html
from collections import namedtuple
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.estimators.tables import (
    Cell,
    clipped,
    html_grid,
    text_grid,
    weight_cells,
)

if TYPE_CHECKING:
    import pandas

_MAX_ROWS, _MAX_LABELS = 20, 6

Terms = namedtuple("Terms", ["features", "values", "scores"])
Contribution = namedtuple("Contribution", ["feature", "value", "contributions"])


class Explanation:
    """What each feature and each neighbour contributed to each label at a position.

    For every label k it explains the number ::

        score(path with y_t = k) - score(path with y_t = reference)

    with the other labels of the path as they are: ``contributions[:, k]`` are the terms
    of this difference, and add up to ``scores[k]``. It shows as text in a terminal and
    as a table in a notebook.

    Parameters
    ----------
    terms : Terms
        ``features``, a list of n_terms names; ``values`` of shape (n_terms,), the
        values of the features, and 1 for terms without a feature; and ``scores`` of
        shape (n_terms, n_classes), the part of each term in the score of each label,
        -inf if forbidden.
    probabilities : ndarray of shape (n_classes,), or None
        Marginal probability of each label; None if the model has no probabilities:
        then labels are ordered by their scores.
    classes : list of length n_classes
    position : int
    label : int
        Number of the label that the path has at the position.
    reference : int, default=None
        Number of the label that the others are compared with. By default the most
        probable label that is not `label` and not forbidden between its neighbours.
    labels : list of int, default=None
        Numbers of the labels to explain. By default all: the label of the path first,
        then the others by decreasing probability.

    Attributes
    ----------
    position : int
    label, reference : object
        As labels, not as numbers.
    labels : list of n_labels labels
    probabilities : ndarray of shape (n_labels,), or None
    features : list of n_terms names
        Names of the terms, by decreasing contribution to the first label.
    values : ndarray of shape (n_terms,)
    contributions : ndarray of shape (n_terms, n_labels)
    scores : ndarray of shape (n_labels,)
        Sums of the contributions: differences of the scores of paths.

    Raises
    ------
    ValueError
        If the reference is forbidden between its neighbours.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> X = [[["w=the"], ["w=cat"]], [["w=dogs"]]]
    >>> crf = LBFGSCRF(tol=1e-10).fit(X, [["DET", "NOUN"], ["NOUN"]])
    >>> explanation = crf.explain([["w=the"], ["w=dogs"]], 1)
    >>> explanation.label, explanation.reference
    ('NOUN', 'DET')
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
        labels: list[int] | None,
    ) -> None:
        totals = terms.scores.sum(axis=0)
        ranks = totals if probabilities is None else probabilities
        if reference is None:
            reference = _runner_up(ranks, totals, label)
        if totals[reference] == -np.inf:
            raise ValueError(
                f"reference: the label {classes[reference]!r} is forbidden at position "
                f"{position} of this path; choose another."
            )
        if labels is None:
            order = np.argsort(-ranks, kind="stable")
            labels = [label, *order[order != label].tolist()]
        lead = next((k for k in labels if k != reference), labels[0])
        differences = terms.scores - terms.scores[:, [reference]]
        rows = np.argsort(-differences[:, lead], kind="stable")

        self.position = position
        self.label = classes[label]
        self.reference = classes[reference]
        self._title = " against ".join(
            clipped(classes[k])
            + ("" if probabilities is None else f" (probability {ranks[k]:.3f})")
            for k in (label, reference)
        )
        self.labels = [classes[k] for k in labels]
        self.probabilities = None if probabilities is None else probabilities[labels]
        self.features = [terms.features[i] for i in rows.tolist()]
        self.values = terms.values[rows]
        self.contributions = differences[np.ix_(rows, np.array(labels))]
        self.scores = self.contributions.sum(axis=0)

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
        return f"Position {self.position}: {self._title}\n\n{text_grid(self._shown())}"

    def _repr_html_(self):
        title = html.escape(f"Position {self.position}: {self._title}")
        return f"<p><b>{title}</b></p>{html_grid(self._shown())}"

    def _shown(self):
        """Return the rows of cells, the header first."""
        columns = [j for j, k in enumerate(self.labels) if k != self.reference]
        columns = columns[:_MAX_LABELS] or [0]
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


_BLANK = Cell("", True)


def _number_cell(value, form):
    return Cell(format(value, form), True)


def _runner_up(ranks, totals, label):
    """Return the first other label that is allowed, label if there is none."""
    others = np.where(totals > -np.inf, ranks, -np.inf)
    others[label] = -np.inf
    best = int(np.argmax(others))
    return best if others[best] > -np.inf else label
