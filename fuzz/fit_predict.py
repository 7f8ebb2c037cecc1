"""Fuzz fit, predict and the metrics of all estimators with input of any form.

Invalid input raises an error that names the argument, and the estimator is unchanged.
After a fit on valid input, predicted labels are among those of y, and probabilities sum
to one.
"""

import pickle
import re
from functools import partial

import numpy as np
from scipy.sparse import coo_array, csr_array

from harness import run
from inputs import ODD, Inputs, random_bytes
from skcrf_sdca import LBFGSCRF, PackedSequences, metrics
from skcrf_sdca.data.input_formats import format_of
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.structures.form import dense_coef

ALPHAS = ("auto", 1e-3, 1.0, 1e-12, 1e6, 0.0, -1.0, np.nan, np.inf, "1", None)
TRANSITIONS = ("all", "observed", "BIO", "BIOES", "x", [("O", "O")], np.eye(2), None)
LOSSES = ("log_loss", "softmax_margin", "hinge", "x", None)
L1_RATIOS = (0.0, 0.3, 1.0, -1.0, np.nan, "1", None)
LABELS = (("O", "B-X", "I-X"), ("O",), (0, 1), (True, False), (b"a", b"b"), (0.5, 1.5))
ARGUMENT = (
    r"\bX\b|\by\b|[Ss]equences? \d|[Ss]ample.weight|offsets|feature|alpha|transitions"
    r"|\bloss|l1_ratio"
)
# Labels that are partly known are for fit; score takes those that are not known at all.
INEXACT = r"(y|y_true): sequence \d+(, position \d+)? is .*; a label is needed|is None;"
# scikit-learn checks tables, with its own messages.
ANY = ""


as_array = partial(np.fromiter, dtype=object)


class Arguments(Inputs):
    """Draws the arguments of fit and predict."""

    def estimator(self):
        """Return an estimator for one pass, with some parameters."""
        parameters = {"max_iter": 1}
        if self.ConsumeBool():
            parameters["alpha"] = self.pick(ALPHAS)
        if self.ConsumeBool():
            parameters["transitions"] = self.pick(TRANSITIONS)
        if self.seldom():
            parameters["loss"] = self.pick(LOSSES)
        if self.seldom():
            parameters["l1_ratio"] = self.pick(L1_RATIOS)
        cls = self.pick(ESTIMATORS)
        if cls is not LBFGSCRF:
            parameters["random_state"] = 0
        return cls(**parameters)

    def rows(self):
        """Return a function that draws the rows of a sequence, of one width."""
        width = self.ConsumeIntInRange(0, 3)
        dtypes = (float, np.float32, int, bool, object, ">f8")
        make = self.pick((np.array, np.asfortranarray, csr_array, coo_array, list))

        def draw():
            length = self.ConsumeIntInRange(0, 3)
            odd_width, dtype = width + self.seldom(), self.pick(dtypes)
            cells = [
                [self.pick((0, 1, -1, 0.5, 1e5)) for _ in range(odd_width)]
                for _ in range(length)
            ]
            if self.seldom() and length and odd_width:
                cells[0][0] = self.pick((np.nan, np.inf, 1e308, -1e200))
                dtype = float
            rows = np.array(cells, dtype=dtype).reshape(length, odd_width)
            sparse = make in (csr_array, coo_array)
            return make(rows.astype(float) if sparse else rows)

        return draw

    def X(self):
        """Return a function that draws X in one format."""
        kind = self.ConsumeIntInRange(0, 4)
        if kind < 2:
            draw = (self.dict, self.names)[kind]
            return lambda: self.sequences(draw)
        rows = self.rows()
        if kind == 2:
            return lambda: self.several(rows)
        return rows if kind == 3 else lambda: self.packed(rows())

    def packed(self, rows):
        """Return rows as packed sequences, if they can be."""
        cuts = self.several(lambda: self.ConsumeIntInRange(0, 3))
        if not self.seldom():
            cuts = [0, *sorted(min(cut, len_of(rows)) for cut in cuts), len_of(rows)]
        return refused_or_done(PackedSequences, rows, cuts)

    def y(self, lengths):
        """Return labels for sequences of these lengths, sometimes of other lengths."""
        labels = self.pick(LABELS)
        if lengths is None:
            return self.several(lambda: self.pick(labels))
        y = [[self.pick(labels) for _ in range(n)] for n in lengths]
        if self.seldom() and y and y[0]:
            y[-1] = [None] * len(y[-1])
        if self.seldom() and y and y[0]:
            y[0] = [self.pick((*ODD, "B-X", "E-", 1)), *y[0][1:]]
        if self.seldom():
            y = self.pick((list, tuple))(map(self.pick((tuple, as_array)), y))
        if self.seldom():
            y = [*y, self.pick(ODD)]
        return self.pick(ODD) if self.seldom() else y

    def weight(self, n):
        """Return weights for n sequences, mostly None."""
        if not self.seldom():
            return None
        return [self.pick((0, 1, 2.5, 1e-300, 1e308, -1, np.nan)) for _ in range(n)]


def target(data):
    """Fit on random input; predict and score it, then other input."""
    inputs = Arguments(data)
    estimator, draw = inputs.estimator(), inputs.X()
    X = draw()
    lengths = lengths_of(X)
    y = inputs.y(lengths)
    weight = inputs.weight(len(y) if isinstance(y, list) else 1)
    before = pickle.dumps(estimator)
    place = ARGUMENT if format_name(X) != "table" else ANY
    if refused_or_done(estimator.fit, X, y, weight, place=place) is None:
        assert pickle.dumps(estimator) == before, "a refused fit has left a trace"
        return
    place = ARGUMENT if estimator._input_format != "table" else ANY
    assert np.isfinite(dense_coef(estimator.coef_)).all()
    assert 0.0 <= estimator.duality_gap_ < np.inf
    check_answers(estimator, X, y)
    other = draw()
    if refused_or_done(estimator.predict, other, place=place) is not None:
        check_answers(estimator, other, None)


def check_answers(crf, X, y):
    """Check that predictions have the form and the range that they must have."""
    predicted = crf.predict(X)
    if crf._input_format == "table":
        predicted = [predicted.tolist()]
    for labels in predicted:
        assert set(labels) <= set(crf.classes_.tolist())
    if crf.loss != "hinge":
        check_probabilities(crf, X, predicted)
    if y is None:
        return
    score = refused_or_done(crf.score, X, y, place=INEXACT)
    assert score is None or 0.0 <= score <= 1.0
    # Of packed sequences labels may be one array, which metrics cannot cut.
    is_flat = isinstance(X, PackedSequences) and isinstance(y, np.ndarray)
    if crf._input_format != "table" and not is_flat:
        right = refused_or_done(
            metrics.flat_accuracy_score, y, predicted, place=INEXACT
        )
        if right is None:
            return
        np.testing.assert_allclose(score, right, rtol=1e-12)
        assert 0.0 <= metrics.sequence_accuracy_score(y, predicted) <= 1.0
        span_f1 = partial(metrics.span_f1_score, zero_division=0.0)
        spans = refused_or_done(span_f1, y, predicted)
        assert spans is None or 0.0 <= spans <= 1.0


def check_probabilities(crf, X, predicted):
    """Check that there is a probability of each label where there is a prediction."""
    proba = crf.predict_proba(X)
    if crf._input_format == "table":
        proba = [proba]
    for labels, p in zip(predicted, proba, strict=True):
        assert p.shape == (len(labels), len(crf.classes_))
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def format_name(X):
    """Return the name of the input format of X, None where it has none."""
    try:
        return format_of(X).name
    except (ValueError, TypeError):
        return None


def refused_or_done(method, *arguments, place=ARGUMENT):
    """Return the result of a method, or None if it refuses an argument by name."""
    try:
        return method(*arguments)
    except (ValueError, TypeError) as error:
        if not re.search(place, str(error)):
            raise


def len_of(rows):
    """Return the number of rows of an array of any type."""
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def lengths_of(X):
    """Return the lengths of the sequences of X, or None if X has no sequences."""
    if isinstance(X, PackedSequences):
        return X.lengths.tolist()
    if not isinstance(X, (list, tuple)):
        return None
    return [
        len_of(x) if isinstance(x, (list, tuple)) or len(getattr(x, "shape", ())) else 1
        for x in X
    ]


if __name__ == "__main__":
    run(target, random_bytes())
