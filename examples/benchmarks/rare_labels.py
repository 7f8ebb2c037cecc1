"""Compare class weights, losses and ways to decode where most labels are "O".

    python examples/benchmarks/rare_labels.py [--task dutch] [--task noisy]

Each model is fitted on one part of the sentences; alpha, the label bias and the
threshold are chosen on a second part, by span F1; the scores are those of a third. A
row has precision, recall and F1 of spans by four ways to decode: the most probable path
("path"), the same after a number is taken from the intercept of "O" ("bias"), and
`TunedSpans` for F1 ("spans") and for F2 ("spans, F2"). "sure" is the mean probability
of the spans of the most probable paths over the share of them that are right: 1 is
calibrated, and a larger number too sure. The last line is the row and the way with the
best F1 on the second part.

The tasks are the first 5,000 training and 2,500 test sentences of CoNLL-2002 Dutch, and
the noisy names of made_texts.py. Each takes about a minute of one core.
"""

import argparse
import warnings

import numpy as np
from made_texts import noisy_names
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import SDCACRF, SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score, span_precision_score, span_recall_score
from skcrf_sdca.selection import TunedSpans, span_outcomes
from tasks import load_split

STRENGTHS = (1.0, 0.3, 0.1)
BIASES = np.arange(0.0, 4.0, 0.5)
# The loss, and the weight of every label but "O".
MODELS = [
    ("log_loss", None),
    ("log_loss", 5.0),
    ("log_loss", "balanced"),
    ("softmax_margin", None),
    ("softmax_margin", 2.0),
    ("softmax_margin", 5.0),
    ("softmax_margin", "balanced"),
]


def dutch():
    """Return three parts of the Dutch sentences."""
    train, test = load_split("ned", 5000)
    first, second = slice(0, 4000), slice(4000, None)
    parts = [(train.X[first], train.y[first]), (train.X[second], train.y[second])]
    return [*parts, (test.X[:2500], test.y[:2500])]


def noisy():
    """Return three parts of the made messages."""
    X, y = noisy_names()
    X = SequenceVectorizer().fit(X[:2000]).transform(X)
    cuts = slice(0, 2000), slice(2000, 2700), slice(2700, None)
    return [(X[cut], y[cut]) for cut in cuts]


TASKS = {"dutch": dutch, "noisy": noisy}


def f1(y, predicted):
    """Return the span F1, 0 without any spans."""
    return span_f1_score(y, predicted, zero_division=0.0)


def best_of_path(loss, weight, train, held_out):
    """Return the model, of some alphas, with the best F1 on held-out sentences."""
    if isinstance(weight, float):
        names = np.unique(np.concatenate(train[1]))
        weight = {name: weight for name in names if name != "O"}
    crfs = [
        SDCACRF(
            strength / len(train[1]), loss=loss, class_weight=weight, random_state=0
        ).fit(*train)
        for strength in STRENGTHS
    ]
    scores = [f1(held_out[1], crf.predict(held_out[0])) for crf in crfs]
    best = int(np.argmax(scores))
    return crfs[best], STRENGTHS[best]


def with_bias(crf, X, bias):
    """Return the labels after a number is taken from the intercept of "O"."""
    before = crf.intercept_
    crf.intercept_ = before - bias * (crf.classes_ == "O")
    try:
        return crf.predict(X)
    finally:
        crf.intercept_ = before


def decoded(crf, held_out, X):
    """Yield each way to decode: its name, its choice, the labels of both parts."""
    X_held, y_held = held_out
    yield "path", "", crf.predict(X_held), crf.predict(X)
    found = [with_bias(crf, X_held, bias) for bias in BIASES]
    best = int(np.argmax([f1(y_held, own) for own in found]))
    yield "bias", BIASES[best], found[best], with_bias(crf, X, BIASES[best])
    for name, beta in (("spans", 1.0), ("spans, F2", 2.0)):
        tuned = TunedSpans(crf, beta=beta).fit(X_held, y_held)
        yield name, tuned.threshold_, tuned.predict(X_held), tuned.predict(X)


def sureness(crf, X, y):
    """Return the mean probability of predicted spans over the share that is right."""
    probabilities, is_right = span_outcomes(y, crf.predict_spans(X))
    return probabilities.mean() / is_right.mean()


def compare(name):
    """Print the scores of all models and ways on a task."""
    train, held_out, (X, y) = TASKS[name]()
    share = np.mean(np.concatenate(train[1]) != "O")
    print(
        f"\n{name}: {len(train[1])} sentences, {100 * share:.1f} % of tokens in spans"
    )
    print(f"{'loss':>15}{'weight':>9}{'alpha n':>8}{'sure':>6}{'decoding':>11}", end="")
    print(f"{'choice':>7}{'P':>7}{'R':>7}{'F1':>7}{'held out':>10}")
    rows = []
    for loss, weight in MODELS:
        crf, strength = best_of_path(loss, weight, train, held_out)
        sure = sureness(crf, X, y)
        for way, choice, on_held, found in decoded(crf, held_out, X):
            of_test = [
                100 * score(y, found, zero_division=0.0)
                for score in (span_precision_score, span_recall_score, span_f1_score)
            ]
            own = 100 * f1(held_out[1], on_held)
            scores = "".join(f"{score:7.1f}" for score in of_test)
            row = f"{loss:>15}{weight!s:>9}{strength:8g}{sure:6.2f}{way:>11}"
            rows.append((own, f"{row}{choice!s:>7.4}{scores}{own:10.1f}"))
            print(rows[-1][1], flush=True)
    print("chosen on held-out sentences:")
    print(max(rows)[1])


def main():
    """Compare on the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, action="append")
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in parser.parse_args().task or TASKS:
        compare(name)


if __name__ == "__main__":
    main()
