"""Measure chains of order 2 and edge features beside chains of order 1.

    "conll2000"   chunks, labels B and I of 11 types and O
    "ned"         Dutch names, labels B and I of 4 types and O
    "wsj"         part-of-speech tags, 45 labels

Edge features are the word itself, and the word with the one before it: the
"bigram" templates of other tools. All models are made of strings, with the transitions
that the scheme allows, or for tags those observed. alpha is the best of 1/n times
1/4, 1/2, 1, 2 and 4 for each model, on the last fifth of the training sentences.

    python examples/benchmarks/higher_order.py [--task ned] [--model "order 2"]

Columns: the score on the test set, alpha n, epochs, seconds of the processor of fit
and of predict, and the memory of the process at its highest, in MB.
"""

import argparse
import resource
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import OEGCRF
from skcrf_sdca.metrics import flat_accuracy_score, span_f1_score
from tasks import TEXTS, TITLES, WITH_SPANS

FACTORS = 0.25, 0.5, 1.0, 2.0, 4.0
# The order, and whether there are edge features.
MODELS = {
    "order 1": (1, False),
    "edge features": (1, True),
    "order 2": (2, False),
    "order 2, edges": (2, True),
}
WORD, BIGRAM = "word[0]=*", "word[-1]|word[0]=*"
# The features of tags have no bigrams of words.
EDGE_FEATURES = {"wsj": [WORD]}
ROW = "{:19}{:16}{:>7}{:>9}{:>8}{:>9}{:>9}{:>8}"


def measure(task, model, arguments):
    """Print the row of a model."""
    read, test, features = TEXTS[task]
    (X, y), (X_test, y_test) = read(subset="train"), read(subset=test)
    X, X_test = features.transform(X), features.transform(X_test)
    has_spans = task in WITH_SPANS
    score = span_f1_score if has_spans else flat_accuracy_score
    order, has_edges = MODELS[model]
    edge_features = EDGE_FEATURES.get(task, [WORD, BIGRAM]) if has_edges else None

    def fitted(n, factor):
        crf = OEGCRF(
            factor / n,
            order=order,
            edge_features=edge_features,
            features="observed",
            transitions="BIO" if has_spans else "observed",
            random_state=0,
        )
        return crf.fit(X[:n], y[:n])

    factors, n = arguments.factors or FACTORS, len(X) * 4 // 5
    found = dict.fromkeys(factors, 0.0)
    for factor in factors if len(factors) > 1 else ():
        found[factor] = score(y[n:], fitted(n, factor).predict(X[n:]))
    best = max(found, key=found.get)
    begin = process_time()
    crf = fitted(len(X), best)
    middle = process_time()
    percent = 100.0 * score(y_test, crf.predict(X_test))
    end = process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        ROW.format(
            TITLES[task],
            model,
            f"{percent:.2f}",
            best,
            crf.n_iter_,
            f"{middle - begin:.1f}",
            f"{end - middle:.1f}",
            f"{peak:.0f}",
        ),
        flush=True,
    )


def main():
    """Measure the requested tasks and models."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TEXTS, action="append")
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--factors", type=float, nargs="+", help="of alpha n")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        ROW.format(
            "task", "model", "score", "alpha n", "epochs", "fit s", "predict", "MB"
        )
    )
    for task in arguments.task or TEXTS:
        for model in arguments.model or MODELS:
            measure(task, model, arguments)


if __name__ == "__main__":
    main()
