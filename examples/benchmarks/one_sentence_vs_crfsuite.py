"""Compare the microseconds to label one sentence with python-crfsuite, on CoNLL-2000.

Both models are trained for a short time on the same sentences, on the features of
handwritten.py as lists of strings, and as dicts. The sentences have 1, 5, 25 and 100
tokens, from the test data. The table has the least time of a call, since other work on
the machine can only add to it.

    python examples/benchmarks/one_sentence_vs_crfsuite.py [--calls 3000]

needs python-crfsuite and the data of CoNLL-2000, in the folder SKCRF_SDCA_DATA or
downloaded.
"""

import argparse
from functools import partial
from itertools import chain
from timeit import repeat

import pycrfsuite
from predict_vs_crfsuite import crfsuite_tagger, trained_sdca

import tables
from handwritten import chunk_features
from skcrf_sdca.datasets import fetch_conll2000

LENGTHS = 1, 5, 25, 100


def as_dicts(sequence):
    """Return lists of strings "name=value" as dicts {name: value}."""
    return [dict(feature.partition("=")[::2] for feature in item) for item in sequence]


def microseconds(function, n_calls):
    """Return the least time of a call."""
    return 1e6 * min(repeat(function, number=1, repeat=n_calls))


def main():
    """Train both on each form of features, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=2000, help="to train on")
    parser.add_argument("--calls", type=int, default=3000)
    arguments = parser.parse_args()
    sentences, y = fetch_conll2000(return_X_y=True)
    tokens = chain.from_iterable(fetch_conll2000(subset="test", return_X_y=True)[0])
    tokens = [next(tokens) for _ in range(max(LENGTHS))]
    rows = [["features", "tokens", "Tagger.tag", "predict"]]
    for name, form in (("strings", list), ("dicts", as_dicts)):
        X = [form(chunk_features(s)) for s in sentences[: arguments.sentences]]
        labels = y[: arguments.sentences]
        tagger = crfsuite_tagger(map(pycrfsuite.ItemSequence, X), labels, 30)
        crf = trained_sdca(X, labels, 5)
        for length in LENGTHS:
            x = form(chunk_features(tokens[:length]))
            functions = partial(tagger.tag, x), partial(crf.predict, [x])
            times = [microseconds(function, arguments.calls) for function in functions]
            rows.append([name, str(length), *(f"{time:.1f}" for time in times)])
    tables.show(rows)


if __name__ == "__main__":
    main()
