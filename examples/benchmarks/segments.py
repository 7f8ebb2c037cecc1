"""Compare SegmentCRF with chains of the same features, for names and for chunks.

    python examples/benchmarks/segments.py [--task ned] [--scheme BIO] [--alphas 1 3]

For each task and scheme, the table has OEGCRF with the transitions of the scheme and
SegmentCRF: the alpha of the best span F1 on held-out data (in the unit 1/n; with one
alpha nothing is held out), the epochs and seconds of the fit, the seconds to predict
the test data, the span F1 there, and the largest length of a segment. The last fifth of
the training data is held out. Seconds are valid only if the machine had no other work.

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded; tasks.py
makes the features.
"""

import argparse
from time import perf_counter

from skcrf_sdca import OEGCRF, SegmentCRF, SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score
from skcrf_sdca.text import convert_labels
from tasks import TEXTS

NAMES = ("ned", "conll2000")
SCHEMES = ("BIO", "BIOES")
ALPHAS = (1.0,)
COLUMNS = "{:10}{:7}{:>12}{:>9}{:>8}{:>8}{:>10}{:>8}{:>8}"
TITLES = "task scheme model n*alpha epochs fit predict F1 longest"


def models(scheme, alpha):
    """Yield the estimators to compare."""
    yield OEGCRF(alpha, transitions=scheme, random_state=0)
    yield SegmentCRF(alpha, scheme=scheme, random_state=0)


def f1_of(crf, X, y, scheme):
    """Return the span F1 of a fitted model."""
    return span_f1_score(y, crf.predict(X), scheme=scheme)


def best_alpha(make, alphas, X, y, scheme):
    """Return the alpha, in the unit 1/n, of the best span F1 on held-out data."""
    if len(alphas) == 1:
        return alphas[0]
    n = 4 * len(y) // 5

    def score(alpha):
        crf = make(alpha / n).fit(X[:n], y[:n])
        return f1_of(crf, X[n:], y[n:], scheme)

    return max(alphas, key=score)


def measure(name, scheme, alphas):
    """Print the rows of one task in one scheme."""
    read, test, features = TEXTS[name]
    X, y = read(subset="train")
    X_test, y_test = read(subset=test)
    vectorizer = SequenceVectorizer()
    X = vectorizer.fit_transform(features.transform(X))
    X_test = vectorizer.transform(features.transform(X_test))
    y, y_test = (convert_labels(labels, "BIO", scheme) for labels in (y, y_test))
    for model in range(2):

        def make(alpha, model=model):
            return list(models(scheme, alpha))[model]

        alpha = best_alpha(make, alphas, X, y, scheme)
        marks = [perf_counter()]
        crf = make(alpha / len(y)).fit(X, y)
        marks.append(perf_counter())
        f1 = f1_of(crf, X_test, y_test, scheme)
        marks.append(perf_counter())
        row = COLUMNS.format(
            name,
            scheme,
            type(crf).__name__,
            alpha,
            crf.n_iter_,
            *(f"{b - a:.1f} s" for a, b in zip(marks, marks[1:], strict=False)),
            f"{f1:.4f}",
            getattr(crf, "max_length_", "-"),
        )
        print(row, flush=True)


def main():
    """Measure the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=NAMES, action="append")
    parser.add_argument("--scheme", choices=SCHEMES, action="append")
    parser.add_argument("--alphas", type=float, nargs="+", default=ALPHAS)
    options = parser.parse_args()
    print(COLUMNS.format(*TITLES.split()))
    for name in options.task or NAMES:
        for scheme in options.scheme or SCHEMES:
            measure(name, scheme, options.alphas)


if __name__ == "__main__":
    main()
