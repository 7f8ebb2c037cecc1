"""Compare the microseconds of one sequence of dicts with CRFsuite's Python packages.

Three calls that programs make for one sentence: `predict_single` and
`predict_marginals_single` of ``sklearn_crfsuite.CRF`` and of `skcrf_sdca.compat.CRF`,
and `tag` of ``pycrfsuite.Tagger`` and of `skcrf_sdca.compat.pycrfsuite.Tagger`. The
models are trained on the same sentences of CoNLL-2000, with features as in the tutorial
of sklearn-crfsuite, c1 = c2 = 0.1. Sentences have 1, 5 and 25 tokens; "toy" is two
dicts of one attribute each. Rows have the medians of alternating calls.

    python examples/benchmarks/singles_vs_crfsuite.py [--calls 2000]

needs sklearn-crfsuite and the data of CoNLL-2000, in the folder SKCRF_SDCA_DATA or
downloaded.
"""

import argparse
from functools import partial
from itertools import chain
from statistics import median
from timeit import timeit

import sklearn_crfsuite

import tables
from skcrf_sdca import compat
from skcrf_sdca.datasets import fetch_conll2000

LENGTHS = 1, 5, 25
OPTIONS = {"c1": 0.1, "c2": 0.1, "max_iterations": 50}


def shape(word, place):
    """Return what the tutorial asks of a word beside another, with a prefix."""
    asked = {"lower()": word.lower(), "istitle()": word.istitle()}
    asked["isupper()"] = word.isupper()
    return {f"{place}word.{name}": value for name, value in asked.items()}


def features(sentence):
    """Return the dicts of the tokens of a sentence."""
    words, items = [token["word"] for token in sentence], []
    for t, word in enumerate(words):
        item = {"bias": 1.0, "word[-3:]": word[-3:], "word[-2:]": word[-2:]}
        item |= {"word.isdigit()": word.isdigit(), **shape(word, "")}
        item |= shape(words[t - 1], "-1:") if t else {"BOS": True}
        ends = t + 1 == len(words)
        item |= {"EOS": True} if ends else shape(words[t + 1], "+1:")
        items.append(item)
    return items


def medians(calls, n_calls):
    """Return the median microseconds of each of some calls, made in turn."""
    times = [[1e6 * timeit(call, number=1) for call in calls] for _ in range(n_calls)]
    return [median(column) for column in zip(*times, strict=True)]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1000, help="to train on")
    parser.add_argument("--calls", type=int, default=2000)
    arguments = parser.parse_args()
    X, y = fetch_conll2000(return_X_y=True)
    X, y = list(map(features, X[: arguments.sentences])), y[: arguments.sentences]
    models = [cls(**OPTIONS).fit(X, y) for cls in (sklearn_crfsuite.CRF, compat.CRF)]
    tokens = list(chain.from_iterable(fetch_conll2000(return_X_y=True)[0][:10]))
    inputs = {"toy": [{"w": "a"}, {"w": "b"}]}
    inputs |= {str(n): features(tokens[:n]) for n in LENGTHS}
    rows = [["call", "tokens", "CRFsuite", "skcrf_sdca", "ratio"]]
    for name in ("predict_single", "predict_marginals_single", "tag"):
        for length, x in inputs.items():
            objects = [m.tagger_ if name == "tag" else m for m in models]
            calls = [partial(getattr(own, name), x) for own in objects]
            theirs, ours = medians(calls, arguments.calls)
            found = f"{theirs:.1f}", f"{ours:.1f}", f"{theirs / ours:.1f}"
            rows.append([name, length, *found])
    tables.show(rows)


if __name__ == "__main__":
    main()
