"""Differences of two F1 scores, against loops over sequences."""

import numpy as np
import pytest

from skcrf_sdca.metrics import span_f1_difference, span_f1_score

LABELS = ["O", "O", "B-X", "I-X", "B-Y"]


def texts(rng, n):
    """Return true labels, and predictions with one label in four, and in two, drawn."""
    y = [rng.choice(LABELS, rng.randint(1, 8)).tolist() for _ in range(n)]

    def noisy(share):
        return [
            [rng.choice(LABELS).item() if rng.rand() < share else x for x in labels]
            for labels in y
        ]

    return y, noisy(0.25), noisy(0.5)


@pytest.mark.parametrize("options", [{}, {"strict": True}])
def test_the_difference_is_the_one_of_the_scores(options):
    y, first, other = texts(np.random.RandomState(0), 60)
    found = span_f1_difference(y, first, other, random_state=0, **options)
    scores = [span_f1_score(y, own, **options) for own in (first, other)]
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-12)
    assert found.low < found.difference < found.high
    back = span_f1_difference(y, other, first, random_state=0, **options)
    assert back.difference == -found.difference
    assert back.p_value == found.p_value


def test_draws_are_those_of_a_loop_over_sequences():
    rng = np.random.RandomState(1)
    y, first, other = texts(rng, 40)
    n_draws = 3000
    found = span_f1_difference(y, first, other, n_draws=n_draws, random_state=0)

    def difference(a, b, chosen):
        true = [y[i] for i in chosen]
        pair = [span_f1_score(true, [own[i] for i in chosen]) for own in (a, b)]
        return pair[0] - pair[1]

    drawn, far = [], 0
    for _ in range(500):
        drawn.append(difference(first, other, rng.randint(40, size=40)))
        swaps = rng.randint(2, size=40)
        pairs = list(zip(first, other, swaps, strict=True))
        a = [own[swap] for *own, swap in pairs]
        b = [own[1 - swap] for *own, swap in pairs]
        far += abs(difference(a, b, range(40))) >= abs(found.difference) - 1e-12
    low, high = np.quantile(drawn, [0.025, 0.975])
    # Quantiles of 500 draws have an error of some hundredths of the width.
    width = high - low
    assert abs(found.low - low) < 0.15 * width
    assert abs(found.high - high) < 0.15 * width
    assert abs(found.p_value - far / 500) < 0.05


def test_chance_and_certainty():
    y = [["B-X"], ["B-Y"], ["O"]] * 40
    nothing = [["O"]] * 120
    same = span_f1_difference(y, y, y, random_state=0)
    assert same == (0.0, 0.0, 0.0, 1.0)
    clear = span_f1_difference(y, y, nothing, n_draws=99, random_state=0)
    assert clear == (1.0, 1.0, 1.0, 0.01)
    assert span_f1_difference([], [], []) == (0.0, 0.0, 0.0, 1.0)
    assert span_f1_difference(y, nothing, nothing, n_draws=5).p_value == 1.0


def test_wrong_arguments_are_named():
    y = [["B-X"]]
    with pytest.raises(ValueError, match="n_draws must be at least 1, got 0"):
        span_f1_difference(y, y, y, n_draws=0)
    with pytest.raises(ValueError, match="sequence"):
        span_f1_difference(y, y, [["B-X"], ["O"]])
    with pytest.raises(ValueError, match="is not of the scheme"):
        span_f1_difference(y, y, [["PER"]])
