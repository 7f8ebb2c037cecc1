"""What a model finds in new data beside old data: whether it still knows the text.

Confidence alone does not say that: lower-cased text may have no span, and the model is
sure of it.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.grids import Cell, clipped, text_grid
from skcrf_sdca._utils.last_step import parted
from skcrf_sdca._utils.typing import Sequences, SpanScheme
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.containers import PART, parts_of
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.data.spans import extract_spans, scheme_of_readable
from skcrf_sdca.features.vectorizer import SequenceVectorizer

__all__ = ["Drift", "DriftReport", "drift_report"]

# A figure has drifted if it changed by this share of the old one, and by so many
# standard errors, which chance does once in 16,000 figures.
LEAST_CHANGE, LEAST_ERRORS = 0.2, 4.0
# Names of figures.
UNKNOWN, LOG_PROBABILITY, SPANS = "unknown features", "log probability", "spans"


class Drift(NamedTuple):
    """A figure of a `DriftReport`, of old and of new data.

    Parameters
    ----------
    figure : str
        What is counted, such as "spans PER" or "unknown features".
    old, new : float
        Labels and spans in 1,000 tokens, the share of unknown features, and the mean
        logarithm of the probability of the labels of a sequence, for each token.
    errors : float
        By how many standard errors the new one is larger.

    Examples
    --------
    >>> from skcrf_sdca.inspection import Drift
    >>> Drift("spans", 67.0, 0.0, -31.0).has_drifted
    True
    """

    figure: str
    old: float
    new: float
    errors: float

    @property
    def has_drifted(self) -> bool:
        """Whether the change is large, by a fifth or more, and no chance."""
        is_large = abs(self.new - self.old) >= LEAST_CHANGE * abs(self.old)
        return is_large and abs(self.errors) >= LEAST_ERRORS


class DriftReport(NamedTuple):
    """The figures of old and new data; it is shown as a table.

    Parameters
    ----------
    rows : list of Drift
    n_sequences, n_tokens : tuple of int
        Of the old and of the new data.

    Examples
    --------
    >>> from skcrf_sdca.inspection import Drift, DriftReport
    >>> rows = [Drift("spans", 67.0, 0.0, -31.0), Drift("label O", 920.0, 925.0, 1.5)]
    >>> DriftReport(rows, (300, 200), (9000, 6000))
    figure   old  new  errors
    spans     67    0   -31.0  drift
    label O  920  925    +1.5
    300 and 200 sequences, 9,000 and 6,000 tokens
    """

    rows: list[Drift]
    n_sequences: tuple[int, int]
    n_tokens: tuple[int, int]

    @property
    def drifted(self) -> list[Drift]:
        """The figures that have drifted."""
        return [row for row in self.rows if row.has_drifted]

    def __repr__(self) -> str:
        """Return a row for each figure."""
        head = (Cell("figure"), *(Cell(n, True) for n in ("old", "new", "errors")))
        grid = [(*head, Cell(""))]
        for row in self.rows:
            numbers = (f"{row.old:.3g}", f"{row.new:.3g}", f"{row.errors:+.1f}")
            said = Cell("drift" if row.has_drifted else "")
            cells = (Cell(number, True) for number in numbers)
            grid.append((Cell(clipped(row.figure)), *cells, said))
        counts = (
            f"{a:,} and {b:,} {what}"
            for (a, b), what in (
                (self.n_sequences, "sequences"),
                (self.n_tokens, "tokens"),
            )
        )
        return f"{text_grid(grid)}\n{', '.join(counts)}"


def drift_report(
    estimator: Any,
    X_old: Sequences,
    X_new: Sequences,
    *,
    scheme: SpanScheme | None = None,
) -> DriftReport:
    """Return what a model finds in new data beside what it finds in old data.

    No labels are needed. Take old data that the model was not fitted on, such as
    those of its evaluation: it knows each feature of its training data.

    Parameters
    ----------
    estimator : fitted CRF, Tagger or Pipeline
    X_old, X_new : as in its ``predict``
        At least two sequences each. They are read in parts of 1,000.
    scheme : str, default=None
        The tagging scheme of the labels. By default it is the first that can read them;
        if none can, no spans are counted.

    Returns
    -------
    report : DriftReport
        The rows are the share of features that the model does not know, if it has a
        vocabulary, the mean log probability of the predicted labels for each token, if
        the model has probabilities, all spans and those of each type, and each label,
        in 1,000 tokens.

    Raises
    ------
    ValueError
        If there are fewer than two sequences, or no item; and what the estimator
        raises.
    TypeError
        If the estimator takes no sequences.

    See Also
    --------
    skcrf_sdca.plotting.DriftDisplay : Draws the report.

    Examples
    --------
    >>> from skcrf_sdca import CRF, make_tagger
    >>> from skcrf_sdca.inspection import drift_report
    >>> from skcrf_sdca.text import Shape, TokenFeatures
    >>> X, y = [["at", "Ulm"], ["we", "met"]] * 30, [["O", "B-LOC"], ["O", "O"]] * 30
    >>> tagger = make_tagger(TokenFeatures(["word", Shape()]), CRF(random_state=0))
    >>> lower = [[word.lower() for word in sentence] for sentence in X]
    >>> report = drift_report(tagger.fit(X, y), X, lower)
    >>> [row.figure for row in report.drifted if row.new == 0]
    ['spans', 'spans LOC', 'label B-LOC']
    """
    check_tagger(estimator, "predict")
    old, new = (
        _Figures(estimator, scheme).of(X, name)
        for X, name in ((X_old, "X_old"), (X_new, "X_new"))
    )
    rows = []
    for name in dict.fromkeys([*old, *new]):
        if name not in (TOKENS, FEATURES):
            rows.append(_drift(name, old, new))
    n_sequences = len(old[TOKENS]), len(new[TOKENS])
    n_tokens = int(old[TOKENS].sum()), int(new[TOKENS].sum())
    return DriftReport(rows, n_sequences, n_tokens)


# What figures are divided by: numbers of tokens and of features.
TOKENS, FEATURES = "tokens", "features"


def _drift(name, *figures):
    """Return the Drift of the figure of this name."""
    (old, old_error), (new, new_error) = (_ratio(name, own) for own in figures)
    change, error = new - old, np.hypot(old_error, new_error)
    errors = change / error if error > 0.0 else np.copysign(np.inf, change)
    return Drift(name, old, new, float(errors) if change else 0.0)


def _ratio(name, figures):
    """Return a figure and its standard error, that of a ratio of two sums."""
    per = figures[FEATURES if name == UNKNOWN else TOKENS]
    scale = 1.0 if name in (UNKNOWN, LOG_PROBABILITY) else 1000.0
    values, n = figures.get(name, np.zeros(len(per))), len(per)
    ratio = values.sum() / per.sum()
    error = np.sqrt(n / (n - 1) * np.square(values - ratio * per).sum()) / per.sum()
    return scale * float(ratio), scale * float(error)


class _Figures:
    """Counts of each sequence, by the names of figures."""

    def __init__(self, estimator, scheme):
        self.steps, self.last = parted(estimator)
        self.estimator = estimator
        classes = getattr(self.last, "classes_", np.empty(0)).tolist()
        names = [list(map(str, own)) for own in named_lists(estimator, [classes])]
        self.scheme = scheme or getattr(self.last, "scheme_", None)
        self.scheme = self.scheme or scheme_of_readable(names)

    def of(self, X, name):
        """Return an array of a number for each sequence, by the names of figures."""
        parts = []
        for begin, part in parts_of(X, PART):
            with in_words(X=name, begin=begin):
                parts += [self._of_part(part)] if part else []
        names = dict.fromkeys(key for part in parts for key in part)
        sizes = [len(part[TOKENS]) for part in parts]
        if sum(sizes) < 2:
            raise ValueError(f"{name} must have two sequences at least.")
        zeros = [np.zeros(size) for size in sizes]
        return {
            key: np.concatenate(
                [part.get(key, zero) for part, zero in zip(parts, zeros, strict=True)]
            )
            for key in names
        }

    def _of_part(self, X):
        """Return the figures of a list of sequences."""
        items, features = self._through_steps(X)
        y = self.last.predict(items)
        found = {TOKENS: np.array(list(map(len, y)), dtype=float), **features}
        if hasattr(self.last, "log_likelihood"):
            found[LOG_PROBABILITY] = np.asarray(self.last.log_likelihood(items, y))
        texts = [list(map(str, own)) for own in named_lists(self.estimator, y)]
        if self.scheme is not None:
            spans = [
                [kind for kind, _, _ in own]
                for own in extract_spans(texts, self.scheme)
            ]
            found[SPANS] = np.array(list(map(len, spans)), dtype=float)
            found |= _counts(f"{SPANS} ", spans)
        return found | _counts("label ", texts)

    def _through_steps(self, X):
        """Return X as the last step takes it, and the figures of its features."""
        items, figures = X, {}
        for n in range(0 if self.steps is None else len(self.steps)):
            before, items = items, self.steps[n : n + 1].transform(items)
            if isinstance(self.steps[n], SequenceVectorizer):
                figures = _of_features(before, items)
        own = getattr(self.last, "vectorizer_", None)
        if own is not None and not figures:
            figures = _of_features(items, own.transform(items))
        return items, figures


def _of_features(items, known):
    """Return the numbers of features, and of those that are not among the known."""
    # A vocabulary of their own has all of them.
    of_all = _sizes(SequenceVectorizer().fit_transform(items))
    return {FEATURES: of_all, UNKNOWN: of_all - _sizes(known)}


def _sizes(packed):
    """Return the number of features of each sequence."""
    return np.diff(packed.X.indptr[packed.offsets]).astype(float)


def _counts(prefix, lists):
    """Return how often each value occurs in each list, by the names of figures."""
    counts = [Counter(own) for own in lists]
    return {
        f"{prefix}{value}": np.array([own[value] for own in counts], dtype=float)
        for value in sorted(set().union(*counts))
    }
